/** Reads inbound mail for its owners: lists, single mails, files, and targets of signed links. Spec "Inbound routes". */
import { readWholeContent } from '#store/content.ts'
import type { Page } from '#store/database.ts'
import type { Core } from '../core.ts'
import { recordsOf, sieve, type List, type PageQuery } from '../access/principal/lists.ts'
import type { Principal } from '../access/principal/principal.ts'
import { ReadingCache } from '../capture/reading/reading-cache.ts'
import type { MessageReader, ReadAttachment, ReadResult, WaitingMessage } from '../capture/reading/message-reader.ts'
import { requireFlag } from '../plan/features.ts'
import { Refusal } from '../refusals.ts'
import { readLinkToken } from './mail-links.ts'
import { inboundMessages, type InboundMessage } from './inbound-message.ts'
import { inboundRoutes } from './route.ts'

export interface InboundMailOptions extends Core {
  readonly reader: MessageReader
}

/** A mail with its parsed content. */
export interface InboundReading {
  readonly message: InboundMessage
  readonly read: ReadResult
}

/** A file of a mail, or the raw mail. */
export interface InboundFile {
  readonly bytes: Uint8Array
  readonly messageId: string
  /** Undefined for the raw mail. */
  readonly attachment: { readonly index: number; readonly known: ReadAttachment | undefined } | undefined
}

/** Filter of a list: the mail of one route. */
interface OfRoute {
  readonly routeId: string
  /** Part of the subject or of an address, case-insensitive. */
  readonly q?: string | undefined
}

/** Maximum number of mails examined per filtered page, because no index covers the filter. */
const maxLooks = 1000

export class InboundMail implements List<OfRoute, InboundMessage> {
  readonly #options: InboundMailOptions
  readonly #kept: ReadingCache

  constructor(options: InboundMailOptions) {
    this.#options = options
    this.#kept = new ReadingCache(options.clock)
  }

  /**
   * Lists mail, newest first. A page can be short and still have a cursor to more mail. Throws `not_found` for a route outside the caller's
   * reach.
   */
  async list(principal: Principal, { routeId, q, ...page }: PageQuery & OfRoute): Promise<Page<InboundMessage>> {
    await this.#requireRoute(principal, routeId)
    const wanted = q?.toLowerCase()
    const chosen = wanted === undefined ? undefined : sieve((mail: InboundMessage) => holds(mail, wanted), undefined, maxLooks)
    return recordsOf(await this.#options.database.list(inboundMessages, principal, { ...page, index: 'route', values: [routeId] }, chosen))
  }

  /** Throws `not_found` for missing and foreign ids. */
  async get(principal: Principal, routeId: string, id: string): Promise<InboundReading> {
    const message = await this.#message(principal, routeId, id)
    return { message, read: await this.#read(principal.organizationId, message) }
  }

  /** Returns the received mail, preceded by the header fields of this service. Throws `not_found`. */
  async raw(principal: Principal, routeId: string, id: string): Promise<InboundFile> {
    return this.#file(principal.organizationId, await this.#message(principal, routeId, id), 'raw')
  }

  /** Returns an attachment. Throws `not_found` for a missing mail or attachment. */
  async attachment(principal: Principal, routeId: string, id: string, index: number): Promise<InboundFile> {
    return this.#file(principal.organizationId, await this.#message(principal, routeId, id), index)
  }

  /** Returns the target of a signed link. Throws `not_found` for an invalid or expired link. */
  async linked(token: string): Promise<InboundFile> {
    const { database, policies, secrets, clock } = this.#options
    const target = readLinkToken(secrets, token)
    if (!target || target.expiresAt <= clock.now()) throw linkEnded
    const { organizationId, messageId } = target
    const stored = await database.get(inboundMessages, { organizationId }, messageId)
    const { organization, projects } = await policies.of(organizationId)
    if (!stored || organization.deletedAt !== undefined || !projects.has(stored.record.projectId)) throw linkEnded
    if (!(await database.get(inboundRoutes, { organizationId }, stored.record.routeId))) throw linkEnded
    requireFlag(organization, 'inbound_routes')
    return this.#file(organizationId, stored.record, target.part)
  }

  async #file(organizationId: string, message: InboundMessage, part: 'raw' | number): Promise<InboundFile> {
    const messageId = message.id
    if (part === 'raw') {
      const content = await this.#content(organizationId, message)
      return { bytes: Buffer.concat([Buffer.from(message.prefix), content]), messageId, attachment: undefined }
    }
    const bytes = await this.#options.reader.attachment(this.#waiting(organizationId, message), part)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    const read = await this.#read(organizationId, message)
    return { bytes, messageId, attachment: { index: part, known: read.ok ? read.message.attachments[part] : undefined } }
  }

  async #read(organizationId: string, message: InboundMessage): Promise<ReadResult> {
    return (
      this.#kept.get(organizationId, message.id) ??
      this.#kept.keep(organizationId, message.id, await this.#options.reader.read(this.#waiting(organizationId, message)))
    )
  }

  #waiting(organizationId: string, message: InboundMessage): WaitingMessage {
    return { organizationId, size: message.content.size, read: () => this.#content(organizationId, message) }
  }

  #content(organizationId: string, { content }: InboundMessage): Promise<Uint8Array> {
    return readWholeContent(this.#options.database, organizationId, content)
  }

  async #message(principal: Principal, routeId: string, id: string): Promise<InboundMessage> {
    await this.#requireRoute(principal, routeId)
    const stored = await this.#options.database.get(inboundMessages, principal, id)
    if (stored?.record.routeId !== routeId) throw new Refusal('not_found', 'No message of this route has this id.')
    return stored.record
  }

  async #requireRoute(principal: Principal, id: string): Promise<void> {
    if (await this.#options.database.get(inboundRoutes, principal, id)) return
    throw new Refusal('not_found', 'No inbound route has this id.')
  }
}

/** Whether a displayed value of the mail contains the text. */
const holds = ({ mailFrom, recipients, prepared }: InboundMessage, wanted: string): boolean =>
  [mailFrom, ...recipients, prepared?.subject ?? '', ...(prepared?.from ?? [])].some((text) => text.toLowerCase().includes(wanted))

const linkEnded = new Refusal('not_found', 'This link is no longer valid; get the message with an API key.')
