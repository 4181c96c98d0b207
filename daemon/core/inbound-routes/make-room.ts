/** Limits the stored mail of an organization. Above a threshold, it removes the oldest mail that webhooks have received. Spec "Limits". */
import type { Clock } from '../clock.ts'
import { limitsOf, type LimitSettings } from '../plan/limits.ts'
import { storedInboundCounter } from '../tenancy/counters.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { removeMessage } from './remove-mail.ts'
import { inboundMessages, weightOf, type InboundMessage } from './inbound-message.ts'

/** Removal starts at this share of the limit … */
const fullShare = 0.9
/** … and ends at this share. */
const enoughShare = 0.8
/** Maximum number of mails examined per check. Mail of failing webhooks cannot be removed, and examining it takes time. */
const maxLookedAt = 2000
const batch = 100
const pauseMs = 10_000

/** Returns the maximum octets that an organization may store. */
export const mostKept = (settings: LimitSettings): number => (limitsOf(settings).inboundMebibytes ?? Infinity) * 2 ** 20

interface RoomCheck {
  readonly at: number
  /** Cursor after the last examined mail; undefined starts again with the oldest. */
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

  /** Whether a mail of this weight fits; removes received mail if necessary. A weight of 0 checks for any free space. */
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

  /** Runs one check at a time per organization, with a pause after it. Concurrent callers wait for the same check. */
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

  /** Removes mail. Returns the cursor for the next check; undefined starts with the oldest mail. */
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

  /** Removes a mail and its delivery if the webhook has received it. Other mail stays for the plan's retention. */
  async #removeReported(organizationId: string, stored: Stored<InboundMessage>): Promise<boolean> {
    const { prepared } = stored.record
    if (prepared === null) return false
    const delivery = await this.#database.get(webhookDeliveries, { organizationId }, prepared.deliveryId)
    if (delivery && delivery.record.status !== 'succeeded') return false
    return removeMessage(this.#database, organizationId, stored, delivery)
  }
}
