/**
 * Mail of the service itself, accepted and delivered like other mail. Its traces belong to a partition outside every organization. Tenants'
 * keys therefore cannot read sign-in links, even if their organization owns the destination.
 */
import { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import { systemOrganizationId, systemProjectId } from '../../routing/policy/system-policy.ts'
import { traceIdUnder, type Accept } from '../../submission/accept/accept.ts'
import { compose } from '../../submission/compose/compose.ts'
import { drafted } from '../../submission/compose/drafted.ts'
import type { TraceStatus } from '../../trace/states.ts'
import { traces } from '../../trace/trace.ts'
import type { MailText } from './mail-texts.ts'

export interface SystemMailOptions extends Core {
  readonly accept: Accept
  /** Destinations of the first organization, in order of use; empty if the service sends no mail. */
  readonly destinationIds: readonly string[]
  /** Sender address, optionally with a display name. */
  readonly from: string | null
  /** Base URL of the dashboard and pages, without a trailing slash. */
  readonly baseUrl: string
}

/** Sender and destination for mail of the service. */
export interface SystemWay {
  readonly principal: Principal
  readonly destinationId: string
  readonly from: Mailbox
  readonly mailFrom: string
}

/** `waiting`: an attempt follows. `refused`: by its provider, or because of a bounce, this one's or an earlier one's. */
export type MailFate = 'waiting' | 'refused' | 'arrived'

const waitingStatuses: ReadonlySet<TraceStatus> = new Set(['pending', 'queued'])
const refusedStatuses: ReadonlySet<TraceStatus> = new Set(['failed', 'bounced', 'suppressed'])

const principal: Principal = {
  organizationId: systemOrganizationId,
  projectId: systemProjectId,
  bound: true,
  scopes: ['api:send'],
  credentialId: 'system',
}

export class SystemMail {
  readonly #options: SystemMailOptions
  readonly #from: Mailbox | undefined

  constructor(options: SystemMailOptions) {
    this.#options = options
    this.#from = options.from === null ? undefined : parseMailbox(options.from)
  }

  /** Returns whether mail can be sent: a configured destination exists and has the mode `live`. */
  async isReady(): Promise<boolean> {
    return (await this.way()) !== undefined
  }

  /** Returns undefined if mail cannot be sent. */
  async way(): Promise<SystemWay | undefined> {
    const { policies, destinationIds } = this.#options
    if (destinationIds.length === 0 || !this.#from) return undefined
    const { destinations } = await policies.of(systemOrganizationId)
    const destinationId = destinationIds.find((id) => destinations.get(id)?.mode === 'live')
    if (destinationId === undefined) return undefined
    return { principal, destinationId, from: this.#from, mailFrom: this.#from.address }
  }

  /** Returns the outcome of the mail with this key of the last day; undefined if it is unknown. */
  async fateOf(key: string): Promise<MailFate | undefined> {
    const { database } = this.#options
    const traceId = await traceIdUnder(database, { principal, projectId: systemProjectId, idempotencyKey: key })
    const trace = traceId && (await database.get(traces, { organizationId: systemOrganizationId }, traceId))?.record
    if (!trace) return undefined
    return waitingStatuses.has(trace.status) ? 'waiting' : refusedStatuses.has(trace.status) ? 'refused' : 'arrived'
  }

  /** Returns the URL of a page. */
  urlOf(path: string): string {
    return this.#options.baseUrl + path
  }

  /**
   * Resolves when the mail is stored and queued. Throws if mail is not configured. Calls with the same `key` within a day send one mail.
   */
  async send(to: string, { subject, text, html }: MailText, key?: string): Promise<void> {
    const { database, accept, clock, destinationIds } = this.#options
    const recipient = parseMailbox(to)
    const destinationId = (await this.way())?.destinationId ?? destinationIds[0]
    if (!recipient || !this.#from || destinationId === undefined) throw new Error('mail of the service is not configured')
    const traceId = newTraceId()
    const headers = [{ name: 'Auto-Submitted', value: 'auto-generated' }] // RFC 3834 §5
    const none = { cc: [], bcc: [], replyTo: [], attachments: [] }
    const composed = compose({ ...none, from: this.#from, to: [recipient], subject, text, html, headers }, traceId, clock.now())
    const draft = await drafted(new Draft(database, systemOrganizationId, traceId), composed)
    await accept.accept({
      ...{ door: 'rest', principal, projectId: systemProjectId, traceId, facts: composed.facts, draft, destinationId },
      mailFrom: this.#from.address,
      rcptTo: [recipient.address],
      submittedBy: principal.credentialId,
      idempotencyKey: key,
    })
  }
}
