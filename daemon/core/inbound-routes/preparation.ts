/**
 * After the acknowledgement: reads each mail that came in, asks for its authentication, and puts the delivery to the webhook in the
 * write that notes both. What is not prepared stands in the store; a crash leaves it there, and nothing is delivered twice.
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
  /** Its own, which is disposed of with it, like `authenticator`. */
  readonly reader: MessageReader
  readonly authenticator: Authenticator
  /** Of the service, without a slash at the end. */
  readonly baseUrl: string
  readonly onError: (error: unknown, messageId: string) => void
}

/** Those whose DNS is slow must not hold up the others; each is in memory as long. */
const maxAtATime = 64
/** Of one organization, as its mail may be a flood that is made to be slow. */
const maxOfOne = 16
const maxOctets = 64 * 1024 * 1024
/** Longer than the schedule of the webhook, so that a receiver who was away for a day can still follow them. */
const linksLastMs = 72 * 3_600_000
const maxSubject = 500
const maxAddresses = 20
const maxAddress = 320

export class Preparation {
  readonly #options: PreparationOptions
  readonly #inFlight = new Map<string, Promise<unknown>>()
  /** How many of them each organization has. */
  readonly #counts = new Map<string, number>()
  /** What could not be prepared, by whatever defect, is not tried again before the next start. */
  readonly #broken = new Set<string>()
  #octets = 0
  readonly #rounds: WorkLoop
  readonly #stopped = Promise.withResolvers<undefined>()

  constructor(options: PreparationOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ clock: options.clock, round: () => this.#beginAll(), onError: (error) => options.onError(error, '') })
  }

  /** Takes up what an earlier process left, and from now on whatever comes in. */
  start(): void {
    this.#options.database.onWork(preparationWork, () => this.#rounds.wake())
    this.#rounds.wake()
  }

  /** What is under way is left for the next start. */
  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    this.#stopped.resolve(undefined)
    await stopped
    await Promise.all(this.#inFlight.values())
    const { reader, authenticator } = this.#options
    await Promise.all([reader[Symbol.asyncDispose](), authenticator[Symbol.asyncDispose]()])
  }

  /** Goes over the organizations that have mail waiting; each of them is taken up as far as it may be. */
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

  /** The oldest of one organization. */
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
    // a reader that was stopped calls every mail unreadable
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
    // a conflict means that the mail was removed meanwhile, and its row with it
    await database.commit(change.replace(inboundMessages, organizationId, stored, { ...record, prepared }))
  }

  #url(organizationId: string, messageId: string, part: 'raw' | number, expiresAt: number): string {
    const { secrets, baseUrl } = this.#options
    return `${baseUrl}/share/inbound/${linkToken(secrets, { organizationId, messageId, part, expiresAt })}`
  }
}
