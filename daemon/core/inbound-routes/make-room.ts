/** How much mail an organization may keep, and room for more: what its webhook has taken goes, the oldest first. Spec "Limits". */
import type { Clock } from '../clock.ts'
import { limitsOf, type LimitSettings } from '../plan/limits.ts'
import { storedInboundCounter } from '../tenancy/counters.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { removeMessage } from './remove-mail.ts'
import { inboundMessages, weightOf, type InboundMessage } from './inbound-message.ts'

/** Room is made when so much of it is taken … */
const fullShare = 0.9
/** … until so much is. */
const enoughShare = 0.8
/** Mail whose webhook does not answer can stand before what may go, and looking costs time. */
const maxLookedAt = 2000
const batch = 100
const pauseMs = 10_000

/** Octets that an organization may keep. */
export const mostKept = (settings: LimitSettings): number => (limitsOf(settings).inboundMebibytes ?? Infinity) * 2 ** 20

interface RoomCheck {
  readonly at: number
  /** Behind the last mail that was looked at; undefined begins anew. */
  readonly cursor: string | undefined
  readonly done: Promise<void>
}

export class Room {
  readonly #database: Database
  readonly #clock: Clock
  readonly #checks = new Map<string, RoomCheck>()

  constructor(database: Database, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** Whether there is room for a mail of that weight, which is made when there is not; 0 asks for any. */
  async has(organizationId: string, settings: LimitSettings, weight = 0): Promise<boolean> {
    const most = mostKept(settings)
    if (most === Infinity) return true
    const taken = await this.#taken(organizationId)
    if (taken < most * fullShare && taken + weight <= most) return true
    if (weight <= most) await this.#make(organizationId, Math.min(most * enoughShare, most - weight))
    const left = await this.#taken(organizationId)
    return left < most && left + weight <= most
  }

  #taken(organizationId: string): Promise<number> {
    return this.#database.kv.counter(pack(storedInboundCounter(organizationId)))
  }

  /** One look at a time for an organization, and a pause after it; who comes meanwhile waits for it. */
  #make(organizationId: string, target: number): Promise<void> {
    const before = this.#checks.get(organizationId)
    const at = this.#clock.monotonic()
    if (before && at - before.at < pauseMs) return before.done
    const done = this.#check(organizationId, target, before?.cursor).then(
      (cursor) => void this.#checks.set(organizationId, { at, cursor, done: Promise.resolve() }),
    )
    this.#checks.set(organizationId, { at, cursor: undefined, done })
    return done
  }

  /** Returns where the next look goes on; undefined is at the oldest mail. */
  async #check(organizationId: string, target: number, from: string | undefined): Promise<string | undefined> {
    let toGo = (await this.#taken(organizationId)) - target
    let cursor = from
    for (let seen = 0; seen < maxLookedAt; seen += batch) {
      const page = await this.#database.list(inboundMessages, { organizationId }, { limit: batch, cursor, ascending: true, forWork: true })
      for (const stored of page.rows) {
        if (toGo <= 0) return cursor
        if (await this.#removeReported(organizationId, stored)) toGo -= weightOf(stored.record)
      }
      cursor = page.nextCursor
      if (cursor === undefined) return undefined
    }
    return cursor
  }

  /** With its delivery, when the webhook has it. What it never took is kept as long as the plan says. */
  async #removeReported(organizationId: string, stored: Stored<InboundMessage>): Promise<boolean> {
    const { prepared } = stored.record
    if (prepared === null) return false
    const delivery = await this.#database.get(webhookDeliveries, { organizationId }, prepared.deliveryId)
    if (delivery && delivery.record.status !== 'succeeded') return false
    return removeMessage(this.#database, organizationId, stored, delivery)
  }
}
