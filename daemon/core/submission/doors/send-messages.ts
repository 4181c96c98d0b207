/**
 * Sends a message from a request (REST), given as fields or as MIME: resolves project and From, composes the message, and calls `accept`.
 */
import { Draft } from '#store/content.ts'
import { newTraceId } from '#store/ids.ts'
import type { Core } from '../../core.ts'
import { owningProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import { namedList, senderList, type MailingList } from '../../feedback/suppression/opt-out.ts'
import type { Unsubscribes } from '../../feedback/suppression/unsubscribes.ts'
import { invalid, Refusal, type FieldProblem } from '../../refusals.ts'
import { chooseInEnvironment, type DestinationHealth } from '../../routing/match/environment.ts'
import { matchRoute } from '../../routing/match/match.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { RenderedOrder, TemplateOrder, Templates } from '../../templates/templates.ts'
import type { TrackingWish } from '../../tracking/message-tracking.ts'
import { runInSteps } from '../../event-loop.ts'
import type { Accept } from '../accept/accept.ts'
import { fileScanFor } from '../accept/file-scan.ts'
import { attachmentsOf, checkingFiles, type UncheckedAttachment } from '../compose/attachments.ts'
import { Base64File, type Base64Fault } from '../compose/base64.ts'
import { composing, type SendRequest } from '../compose/compose.ts'
import { drafted } from '../compose/drafted.ts'
import { authorOf } from './author.ts'
import { requestDigest } from './request-digest.ts'
import { labelsOf } from '../labels.ts'
import { saysAutomatic } from './headers.ts'
import { questionOf, type Acceptance, type Submission } from '../submission.ts'
import { wholeFacts } from '../whole/whole-facts.ts'
import { readingWhole } from '../whole/whole-message.ts'
import type { Trace } from '../../trace/trace.ts'

export interface SendOptions extends Core {
  readonly accept: Accept
  readonly templates: Templates
  readonly unsubscribes: Unsubscribes
  readonly health: DestinationHealth
  /** Host name for Received fields. */
  readonly hostname: string
  /** See `AuthorSettings`. */
  readonly localRecipient: string | null
}

/** A send as requested. Without From, the From of the destination applies. */
export interface SendOrder extends Omit<SendRequest, 'from' | 'attachments'> {
  readonly from: Mailbox | undefined
  readonly attachments: readonly UncheckedAttachment[]
  readonly projectId: string | undefined
  readonly destinationId: string | undefined
  /** Alternative to `destinationId`: the active destination of this environment. */
  readonly environment?: string | undefined
  readonly idempotencyKey: string | undefined
  /** Milliseconds since the epoch; at once by default. */
  readonly sendAt?: number | undefined
  /** Supplies text and HTML, and the subject unless the request has one. */
  readonly template: TemplateOrder | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Vendor API format of the request, if not our own, with its ignored fields. */
  readonly dialect?: Trace['dialect']
  /** Adds a one-click unsubscribe link for the single recipient. `true`: the list of the sender's address; else the named list. */
  readonly listUnsubscribe?: boolean | { readonly list: string } | undefined
  /** Requests a separate return path for each recipient (VERP), if plan and flags of the organization allow it. */
  readonly verpEnabled?: boolean | undefined
  /** Opens and clicks to record in the trace; none by default. */
  readonly tracking?: TrackingWish | undefined
  /** Captures the message, regardless of the destination's mode. */
  readonly isTest?: boolean | undefined
  /** Deliverability test of the destination, in any mode. The recipient is an address of such a test. */
  readonly isProof?: boolean | undefined
}

/** A send of a complete MIME message with its header. */
export type WholeOrder = Pick<
  SendOrder,
  | 'projectId'
  | 'destinationId'
  | 'environment'
  | 'idempotencyKey'
  | 'sendAt'
  | 'tags'
  | 'metadata'
  | 'dialect'
  | 'tracking'
  | 'verpEnabled'
  | 'isTest'
  | 'isProof'
> & {
  /** Reverse-path; defaults to the address in the header From. */
  readonly from: Mailbox | undefined
  /** Envelope recipients, regardless of the header. Defaults to the addresses in To, Cc and Bcc. */
  readonly recipients: readonly Mailbox[] | undefined
  readonly mime: Buffer | { readonly base64: string }
  /** Set if `postern sendmail` submits the message. `isNullPath`: the null reverse-path was requested; the header From replaces it. */
  readonly sendmail?: { readonly isNullPath: boolean } | undefined
}

/** Fields set by a web page's send or a form. */
type Sender = Partial<Pick<Submission, 'door' | 'windows' | 'once' | 'stage'>>

/** A prepared message, ready for `accept`. */
export type Prepared = Submission & { readonly draft: Draft }

/** Returns the digest of an order that has an idempotency key, else undefined. */
export const orderDigest = async (order: SendOrder | WholeOrder): Promise<string | undefined> =>
  order.idempotencyKey === undefined ? undefined : requestDigest(order)

export class SendMessages {
  readonly #options: SendOptions

  constructor(options: SendOptions) {
    this.#options = options
  }

  /** Returns the validation problems of a send without From. Ids in the order need not exist. */
  async missingSender(
    principal: Principal,
    order: Pick<SendOrder, 'projectId' | 'destinationId' | 'environment'>,
  ): Promise<readonly FieldProblem[]> {
    const { policies, health } = this.#options
    try {
      const policy = await policies.of(principal.organizationId)
      const projectId = owningProject(principal, policy.projects, order.projectId)
      requireTellable(principal, policy, projectId, order, health)
      defaultFrom(policy, projectId, order, health)
      return []
    } catch (error) {
      const isMissing = error instanceof Refusal && error.code === 'validation_failed'
      if (error instanceof Refusal) return isMissing ? ((error.details?.['fields'] ?? []) as FieldProblem[]) : []
      throw error
    }
  }

  /** Resolves when the message is on disk. Throws a refusal if nothing was stored. `by`: fields set by a page or form. */
  async send(principal: Principal, order: SendOrder | WholeOrder, by?: Sender): Promise<Acceptance> {
    const prepared = await this.prepare(principal, order, by)
    return 'repeated' in prepared ? prepared : this.#options.accept.accept(prepared)
  }

  /** Prepares the acceptance, or returns the result of an earlier send if known. The caller must accept or discard the draft. */
  async prepare(principal: Principal, order: SendOrder | WholeOrder, by?: Sender): Promise<Acceptance | Prepared> {
    const { policies, accept, health } = this.#options
    const policy = await policies.of(principal.organizationId)
    const projectId = owningProject(principal, policy.projects, order.projectId)
    requireTellable(principal, policy, projectId, order, health)
    const keyed = {
      idempotencyKey: ownIdempotencyKey(principal, order.idempotencyKey),
      orderDigest: await (principal.agent ? requestDigest(order) : orderDigest(order)),
    }
    const earlier = 'template' in order && order.template && (await accept.earlier({ principal, projectId, ...keyed }))
    if (earlier) return earlier // even if the template has changed or was deleted since
    const traceId = newTraceId()
    const place = { principal, policy, projectId, traceId }
    const message = 'mime' in order ? await this.#given(order, place) : await this.#composed(order, place)
    const { isAutomatic: _, ...sent } = message
    return {
      ...{ door: principal.agent ? 'mcp' : 'rest', ...by },
      ...{ principal, projectId, traceId, ...sent, labels: labelsOf(order) },
      noticeTo: this.#author(principal, policy, order, message),
      destinationId: order.destinationId,
      environment: order.environment,
      ...keyed,
      sendAt: order.sendAt,
      tracking: order.tracking,
      isTest: order.isTest,
      isProof: order.isProof,
      submittedBy: principal.credentialId,
      verp: order.verpEnabled ? { bounceDomain: null } : undefined,
    }
  }

  /** Returns the address for failure notices about a message of a send-only key or of `postern sendmail`. Other callers read the trace. */
  #author(principal: Principal, { sendingDomains }: Policy, order: SendOrder | WholeOrder, message: Message): string | undefined {
    const sendmail = 'mime' in order ? order.sendmail : undefined
    if ((!sendmail && !principal.sendsOnly) || sendmail?.isNullPath) return undefined
    const { mailFrom, isAutomatic, list } = message
    const client = sendmail ? 'sendmail' : (principal.address ?? '')
    const authored = {
      mailFrom,
      client,
      isAutomatic: isAutomatic || list !== undefined,
      allowedFromDomains: [],
      settings: principal.notices ?? {},
    }
    return authorOf(this.#options, sendingDomains, authored)
  }

  async #composed(order: SendOrder, { principal, policy, projectId, traceId }: Place): Promise<Message> {
    const { database, accept, templates, unsubscribes, clock, health } = this.#options
    const rendered = order.template && (await templates.render(principal, projectId, order.template))
    const from = order.from ?? defaultFrom(policy, projectId, order, health)
    const list = listFor(order.listUnsubscribe, from, projectId)
    const request: SendRequest = {
      ...order,
      ...contentOf(order, rendered),
      headers: list ? [...unsubscribable(order).headers, ...unsubscribes.fieldsFor(traceId)] : order.headers,
      attachments: attachmentsOf(await runInSteps(checkingFiles(order.attachments))),
      from,
    }
    const composed = await runInSteps(composing(request, traceId, clock.now()))
    accept.assertFits(composed.size, request.attachments)
    return {
      mailFrom: request.from.address,
      isAutomatic: request.headers.some(({ name, value }) => saysAutomatic(name.toLowerCase(), value)),
      attachments: request.attachments.length,
      rcptTo: [...request.to, ...request.cc, ...request.bcc].map(({ address }) => address),
      facts: composed.facts,
      template: rendered?.from,
      unsubscribeLink: list && unsubscribes.reach,
      list,
      draft: await drafted(new Draft(database, principal.organizationId, traceId), composed),
    }
  }

  /** Reads a MIME message as SMTP would deliver it. */
  async #given({ mime, from, recipients }: WholeOrder, { principal, policy, traceId }: Place): Promise<Message> {
    const { database, accept, clock, hostname } = this.#options
    const octets = 'base64' in mime ? decodedMime(await runInSteps(Base64File.parsing(mime.base64))) : mime
    accept.assertFits(octets.length, [])
    const whole = await runInSteps(readingWhole(octets, recipients !== undefined))
    accept.assertFits(whole.size, [])
    const scan = fileScanFor(policy.organization)
    for (const piece of whole.pieces) scan?.read(piece)
    const { parsed, eightBit } = whole
    return {
      mailFrom: (from ?? whole.from).address,
      isAutomatic: parsed.isAutomatic,
      attachments: scan?.hasFile ? 1 : 0,
      rcptTo: (recipients ?? whole.recipients).map(({ address }) => address),
      facts: wholeFacts(parsed, { traceId, nowMs: clock.now(), hostname, protocol: 'HTTP', eightBit }),
      draft: await drafted(new Draft(database, principal.organizationId, traceId), whole),
    }
  }
}

function decodedMime(file: Base64File | Base64Fault): Buffer {
  if ('fault' in file) throw invalid([{ path: 'mime', message: file.fault }])
  return file.decoded()
}

/** Organization, project and trace of a send. */
interface Place {
  readonly principal: Principal
  readonly policy: Policy
  readonly projectId: string
  readonly traceId: string
}

/** Fields of a send that describe the message. */
type Message = Pick<Prepared, 'mailFrom' | 'attachments' | 'rcptTo' | 'facts' | 'template' | 'unsubscribeLink' | 'list' | 'draft'> & {
  /** See `ParsedHeaders`. */
  readonly isAutomatic: boolean
}

/** Returns the list that the recipient can unsubscribe from, or undefined if the send has no unsubscribe link. */
function listFor(asked: SendOrder['listUnsubscribe'], from: Mailbox, projectId: string): MailingList | undefined {
  if (asked === undefined || asked === false) return undefined
  return asked === true ? senderList(from.address) : namedList(projectId, asked.list)
}

/**
 * Throws for an unknown environment of a send-only key. Routing's own error would list the existing environments, which such a key may not
 * read.
 */
function requireTellable(
  { sendsOnly }: Principal,
  { destinations }: Policy,
  projectId: string,
  { environment }: Pick<SendOrder, 'environment'>,
  health: DestinationHealth,
): void {
  if (!sendsOnly || environment === undefined || chooseInEnvironment(destinations, projectId, environment, health)) return
  throw invalid([{ path: 'environment', message: 'no destination of this project has this environment' }])
}

/** Adds the credential id to the idempotency keys of a send-only key, because it may only read its own sends. */
const ownIdempotencyKey = ({ sendsOnly, credentialId }: Principal, key: string | undefined): string | undefined =>
  sendsOnly && key !== undefined ? `${credentialId}/${key}` : key

/** Checks that the send has exactly one recipient, because an unsubscribe link identifies one recipient. */
function unsubscribable(order: SendOrder): SendOrder {
  const path = 'list_unsubscribe'
  if (order.to.length + order.cc.length + order.bcc.length !== 1)
    throw invalid([{ path, message: 'requires exactly one recipient; send a separate message to each' }])
  if (order.headers.some(({ name }) => name.toLowerCase().startsWith('list-unsubscribe')))
    throw invalid([{ path, message: 'sets the List-Unsubscribe fields; leave them out of headers' }])
  return order
}

/** Returns the content from the request or its template. A subject in the request takes precedence. */
function contentOf(order: SendOrder, rendered: RenderedOrder | undefined): Pick<SendRequest, 'subject' | 'text' | 'html'> {
  if (!rendered) return order
  for (const path of ['text', 'html'] as const)
    if (order[path]) throw invalid([{ path, message: 'comes from the template; leave it out, or send without a template' }])
  const { subject, text, html } = rendered
  if (text === null && html === null && order.attachments.length === 0)
    throw invalid([{ path: 'text', message: 'the template has neither text nor HTML, and a message needs a body' }])
  return { subject: order.subject || subject, text: text ?? undefined, html: html ?? undefined }
}

/**
 * Returns the From of the destination that any sender's message would take: named by the request, by a rule for all senders, or the
 * default.
 */
export function defaultFrom(
  policy: Policy,
  projectId: string,
  { destinationId, environment }: Pick<SendOrder, 'destinationId' | 'environment'>,
  health: DestinationHealth,
): Mailbox {
  const question = questionOf({ door: 'rest', projectId, mailFrom: '', facts: { headerFrom: '' }, destinationId, environment })
  const { destination } = matchRoute(policy, question, health)
  const from = destination?.from ? parseMailbox(destination.from) : undefined
  if (from) return from
  throw invalid([{ path: 'from', message: 'is required, because no destination supplies one' }])
}
