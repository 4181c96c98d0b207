/** Sends a message that came as fields (REST): finds project and From, composes once, and hands over to `accept`. */
import { Draft } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { newTraceId } from '#store/ids.ts'
import { isOpenTo, owningProject } from '../access/project-choice.ts'
import type { Scope } from '../access/scope.ts'
import { parseMailbox, type Mailbox } from '../addresses.ts'
import type { Clock } from '../clock.ts'
import type { Unsubscribes } from '../feedback/unsubscribes.ts'
import { invalid } from '../refusals.ts'
import type { Policies, Policy } from '../routing/policy.ts'
import type { RenderedOrder, TemplateOrder, Templates } from '../templates/templates.ts'
import type { TrackingWish } from '../tracking/tracking.ts'
import type { Accept } from './accept.ts'
import { attachmentsOf, type GivenAttachment } from './attachments.ts'
import { compose, type SendRequest } from './compose.ts'
import { drafted } from './drafted.ts'
import type { Acceptance, Submission } from './submission.ts'

export interface SendOptions {
  readonly database: Database
  readonly policies: Policies
  readonly accept: Accept
  readonly templates: Templates
  readonly unsubscribes: Unsubscribes
  readonly clock: Clock
}

/** A send as the caller asks for it: without a From, that of a destination is taken. */
export interface SendOrder extends Omit<SendRequest, 'from' | 'attachments'> {
  readonly from: Mailbox | undefined
  readonly attachments: readonly GivenAttachment[]
  readonly projectId: string | undefined
  readonly destinationId: string | undefined
  readonly idempotencyKey: string | undefined
  /** Milliseconds since the epoch; at once unless told. */
  readonly sendAt?: number | undefined
  /** Gives text and HTML, and the subject unless there is one. */
  readonly template: TemplateOrder | undefined
  /** The message gets a link by which its one recipient unsubscribes with one click. */
  readonly listUnsubscribe?: boolean | undefined
  /** Each recipient gets a return path of its own (VERP), where plan and flags of the organization allow it. */
  readonly verpEnabled?: boolean | undefined
  /** Openings and clicks to tell of in the trace; none unless told. */
  readonly tracking?: TrackingWish | undefined
}

export class SendMessages {
  readonly #options: SendOptions

  constructor(options: SendOptions) {
    this.#options = options
  }

  /** Resolves when the message is on disk. Throws a refusal, after which nothing of it is kept. `page`: a web page sends it. */
  async send(scope: Scope, order: SendOrder, page?: Pick<Submission, 'windows' | 'once'>): Promise<Acceptance> {
    const { database, policies, accept, templates, unsubscribes, clock } = this.#options
    const policy = await policies.of(scope.organizationId)
    const projectId = owningProject(scope, policy.projects, order.projectId)
    const earlier = order.template && (await accept.earlier({ scope, projectId, idempotencyKey: order.idempotencyKey }))
    if (earlier) return earlier // also when the template has changed or gone since
    const rendered = order.template && (await templates.render(scope, projectId, order.template))
    const traceId = newTraceId()
    const request: SendRequest = {
      ...order,
      ...contentOf(order, rendered),
      headers: order.listUnsubscribe ? [...unsubscribable(order).headers, ...unsubscribes.fieldsFor(traceId)] : order.headers,
      attachments: attachmentsOf(order.attachments),
      from: order.from ?? defaultFrom(policy, projectId, order.destinationId),
    }
    const composed = compose(request, traceId, clock.now())
    accept.assertFits(composed.size, request.attachments)
    const draft = await drafted(new Draft(database, scope.organizationId, traceId), composed)
    return accept.accept({
      ...page,
      door: page ? 'publishable_key' : 'rest',
      scope,
      projectId,
      traceId,
      mailFrom: request.from.address,
      attachments: request.attachments.length,
      rcptTo: [...request.to, ...request.cc, ...request.bcc].map(({ address }) => address),
      facts: composed.facts,
      template: rendered?.from,
      unsubscribeLink: order.listUnsubscribe ? unsubscribes.reach : undefined,
      draft,
      destinationId: order.destinationId,
      idempotencyKey: order.idempotencyKey,
      sendAt: order.sendAt,
      tracking: order.tracking,
      submittedBy: scope.grantId,
      verp: order.verpEnabled ? { bounceDomain: null } : undefined,
    })
  }
}

/** One link stands for one recipient, so a message to several cannot have one. */
function unsubscribable(order: SendOrder): SendOrder {
  const path = 'list_unsubscribe'
  if (order.to.length + order.cc.length + order.bcc.length !== 1)
    throw invalid([{ path, message: 'needs exactly one recipient; send one message to each' }])
  if (order.headers.some(({ name }) => name.toLowerCase().startsWith('list-unsubscribe')))
    throw invalid([{ path, message: 'makes the List-Unsubscribe fields; leave yours out of headers' }])
  return order
}

/** What the request gives, or its template; a subject that is given comes before that of the template. */
function contentOf(order: SendOrder, rendered: RenderedOrder | undefined): Pick<SendRequest, 'subject' | 'text' | 'html'> {
  if (!rendered) return order
  for (const path of ['text', 'html'] as const)
    if (order[path]) throw invalid([{ path, message: 'comes from the template; leave it out, or send without a template' }])
  const { subject, text, html } = rendered
  if (text === null && html === null && order.attachments.length === 0)
    throw invalid([{ path: 'text', message: 'the template has neither text nor HTML, and a message needs a body' }])
  return { subject: order.subject || subject, text: text ?? undefined, html: html ?? undefined }
}

/** The From of the destination that is named, or else of the first one that rules give to any sender, or of the default sender. */
export function defaultFrom(policy: Policy, projectId: string, destinationId: string | undefined): Mailbox {
  const open = (policy.rules.get(projectId) ?? []).find((rule) => 'any' in rule.match)
  const destination = policy.destinations.get(destinationId ?? open?.destinationId ?? policy.orgDefault?.id ?? '')
  const from = destination?.from && isOpenTo(destination, projectId) ? parseMailbox(destination.from) : undefined
  if (from) return from
  throw invalid([{ path: 'from', message: 'is required, because no destination supplies one' }])
}
