/**
 * Prepares inbound mail after its acknowledgement: parses and authenticates it, then commits the results with the webhook delivery in one
 * write. Unprepared mail is stored, so a crash neither loses nor repeats a delivery.
 */
import { Change } from '#store/change.ts'
import { readWholeContent } from '#store/content.ts'
import type { Stored } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { messageInMemory, type MessageReader } from '../capture/reading/message-reader.ts'
import { WorkLoop } from '../work-loop.ts'
import { addDelivery } from '../webhooks/events/add-delivery.ts'
import type { Authenticator } from './authentication.ts'
import { linkToken } from './mail-links.ts'
import { inboundMessages, preparationWork, unpreparedKey, type InboundMessage } from './inbound-message.ts'
import { inboundEventBody } from './webhook-body.ts'

export interface PreparationOptions extends Core {
  /** Owned by this object and disposed with it, like `authenticator`. */
  readonly reader: MessageReader
  readonly authenticator: Authenticator
  /** Public address of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly onError: (error: unknown, messageId: string) => void
}

/** Maximum concurrent mails, so that slow DNS does not delay others. Each is in memory until it is prepared. */
const maxAtATime = 64
/** Maximum per organization, because a flood of mail can be slow on purpose. */
const maxOfOne = 16
const maxOctets = 64 * 1024 * 1024
/** Validity of links; longer than the retry schedule of webhooks, so that a receiver can use them after a day of downtime. */
const linksLastMs = 72 * 3_600_000
const maxSubject = 500
const maxAddresses = 20
const maxAddress = 320

export class Preparation {
  readonly #options: PreparationOptions
  readonly #inFlight = new Map<string, Promise<unknown>>()
  /** Mails in progress by organization. */
  readonly #counts = new Map<string, number>()
  /** Mails that failed with an internal error; they are retried after the next start. */
  readonly #broken = new Set<string>()
  #octets = 0
  readonly #rounds: WorkLoop
  readonly #stopped = Promise.withResolvers<undefined>()

  constructor(options: PreparationOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ clock: options.clock, round: () => this.#beginAll(), onError: (error) => options.onError(error, '') })
  }

  /** Starts with the stored mail of an earlier process, and subscribes to new mail. */
  start(): void {
    this.#options.database.onWork(preparationWork, () => this.#rounds.wake())
    this.#rounds.wake()
  }

  /** Stops; mail in progress remains for the next start. */
  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    this.#stopped.resolve(undefined)
    await stopped
    await Promise.all(this.#inFlight.values())
    const { reader, authenticator } = this.#options
    await Promise.all([reader[Symbol.asyncDispose](), authenticator[Symbol.asyncDispose]()])
  }

  /** Starts the mail of each organization, up to its limit. */
  async #beginAll(): Promise<void> {
    const { database } = this.#options
    const { start: first, end } = within(unpreparedKey())
    for (let start = first; !this.#rounds.stopping;) {
      let organizationId: string | undefined
      for await (const { key } of database.kv.range({ start, end, limit: 1 })) organizationId = String(unpack(key)[2])
      if (organizationId === undefined) return
      await this.#beginOf(organizationId)
      start = within(unpreparedKey(organizationId)).end
    }
  }

  /** Starts the oldest mail of one organization. */
  async #beginOf(organizationId: string): Promise<void> {
    const { database, onError } = this.#options
    for await (const { key } of database.kv.range(within(unpreparedKey(organizationId)))) {
      const id = String(unpack(key)[3])
      if (this.#inFlight.has(id) || this.#broken.has(id)) continue
      const stored = await database.get(inboundMessages, { organizationId }, id)
      const octets = stored?.record.content.size ?? 0
      await this.#room(octets)
      if (this.#rounds.stopping || (this.#counts.get(organizationId) ?? 0) >= maxOfOne) return
      const work = this.#prepare(organizationId, id, stored).catch((error: unknown) => {
        this.#broken.add(id)
        onError(error, id)
      })
      this.#begin(organizationId, id, octets, work)
    }
  }

  async #room(octets: number): Promise<void> {
    while (this.#inFlight.size >= maxAtATime || (this.#inFlight.size > 0 && this.#octets + octets > maxOctets))
      await Promise.race(this.#inFlight.values())
  }

  #begin(organizationId: string, id: string, octets: number, work: Promise<unknown>): void {
    const count = (by: number): void => {
      this.#octets += by * octets
      const left = (this.#counts.get(organizationId) ?? 0) + by
      if (left > 0) this.#counts.set(organizationId, left)
      else this.#counts.delete(organizationId)
    }
    count(1)
    const done = work.finally(() => {
      count(-1)
      this.#inFlight.delete(id)
      this.#rounds.wake()
    })
    this.#inFlight.set(id, done)
  }

  async #prepare(organizationId: string, id: string, stored: Stored<InboundMessage> | undefined): Promise<void> {
    const { database, reader, authenticator, clock } = this.#options
    const change = new Change().delete(unpreparedKey(organizationId, id))
    if (!stored || stored.record.prepared !== null) {
      await database.commit(change)
      return
    }
    const { record } = stored
    const raw = await readWholeContent(database, organizationId, record.content)
    const { mailFrom, remoteAddress, helo } = record
    const both = Promise.all([
      reader.read(messageInMemory(organizationId, raw)),
      authenticator.authenticate({ raw, mailFrom, remoteAddress, helo }),
    ])
    const found = await Promise.race([both, this.#stopped.promise])
    // a stopped reader reports every mail as unreadable
    if (!found || this.#rounds.stopping) return
    const [read, authentication] = found
    const at = clock.now()
    const eventId = database.newId('evt', at)
    const linksExpireAt = at + linksLastMs
    const body = inboundEventBody({
      ...{ eventId, at, message: record, read, authentication, linksExpireAt },
      urlOf: (part) => this.#url(organizationId, id, part, linksExpireAt),
    })
    const { routeId: endpointId, projectId } = record
    const delivery = { eventId, eventType: 'inbound_message', endpointId, projectId, traceId: null, body, at } as const
    const deliveryId = addDelivery(database, change, organizationId, delivery)
    const prepared = {
      subject: read.ok ? read.message.subject.slice(0, maxSubject).toWellFormed() : '',
      from: read.ok ? read.message.from.slice(0, maxAddresses).map(({ address }) => address.slice(0, maxAddress).toWellFormed()) : [],
      unreadable: read.ok ? null : read.unreadable,
      authentication,
      deliveryId,
    }
    // a conflict means that the mail and its row were removed in the meantime
    await database.commit(change.replace(inboundMessages, organizationId, stored, { ...record, prepared }))
  }

  #url(organizationId: string, messageId: string, part: 'raw' | number, expiresAt: number): string {
    const { secrets, baseUrl } = this.#options
    return `${baseUrl}/share/inbound/${linkToken(secrets, { organizationId, messageId, part, expiresAt })}`
  }
}
