/**
 * Creates and sends replies. Each draft is sent at most once, on an explicit call, to the visitor's address. Routing, suppressions, budgets
 * and approvals apply as to any send.
 */
import type { Stored } from '#store/record-kind.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { parseMailbox, type Mailbox } from '../../addresses.ts'
import type { Core } from '../../core.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { OutcomeSoFar, SendApprovals } from '../../submission/approval/send-approvals.ts'
import type { Acceptance } from '../../submission/submission.ts'
import { requestDigest } from '../../submission/doors/request-digest.ts'
import type { SendMessages, SendOrder } from '../../submission/doors/send-messages.ts'
import type { MarkedTemplate } from '../../templates/template-content.ts'
import type { Templates } from '../../templates/templates.ts'
import type { Variables } from '../../templates/template.ts'
import type { TraceStatus } from '../../trace/states.ts'
import { traces } from '../../trace/trace.ts'
import { must, transact } from '../../writes/transact.ts'
import { forms, formVersions, versionId, type Form } from '../form.ts'
import { formSubmissions, type FormSubmission } from '../submissions/submission.ts'
import { namedAnswers } from '../uploads/submission-file.ts'
import { formReplies, maxReplies, type FormReply } from './reply.ts'
import { stageMessage } from './reply-sent.ts'

export interface RepliesOptions extends Core {
  readonly templates: Templates
  readonly sendMessages: SendMessages
  readonly sendApprovals: Pick<SendApprovals, 'continue'>
}

/** The message that waits for approval, and whether the agent's user declined it. */
type Continues = Parameters<SendApprovals['continue']>[1]

/** Content of a reply; a template supplies missing parts. */
export interface ReplyContent {
  readonly from?: string | undefined
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
}

export interface NewReply extends ReplyContent {
  readonly templateId?: string | undefined
  /** Variables in addition to `fields` and `form`, which come from the submission. */
  readonly templateVars?: Variables | undefined
}

/** Ranges of variable values in content without a template: none. */
const unfilled: MarkedTemplate['filled'] = { subject: [], text: [] }

export interface ReplyPreview {
  readonly to: string
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  /** Parts of the content that are values of template variables. */
  readonly filled: MarkedTemplate['filled']
}

export interface ListedReply extends FormReply {
  /** Status of the trace, while the trace exists. */
  readonly traceStatus: TraceStatus | undefined
}

/** A reply with the result of its submission. */
export interface SentReply {
  readonly reply: FormReply
  readonly acceptance: Acceptance
}

export class Replies {
  readonly #options: RepliesOptions

  constructor(options: RepliesOptions) {
    this.#options = options
  }

  /**
   * Creates a draft. Throws `not_found`, `conflict` for a submission without an address, and `validation_failed` with the missing
   * variables.
   */
  async create(principal: Principal, formId: string, submissionId: string, asked: NewReply): Promise<FormReply> {
    const { clock, database } = this.#options
    const { record: form } = await must(database, forms, principal, formId)
    const submission = await this.#submission(principal, formId, submissionId)
    const to = await this.#addressOf(principal, submission)
    const { content, template } = await this.#render(principal, form, submission, asked)
    requireContent(content)
    return transact(database, principal, async (change) => {
      await change.must(forms, formId)
      const { organizationId, credentialId: createdBy, agent } = principal
      const earlier = await this.list(principal, formId, submissionId)
      if (earlier.length >= maxReplies)
        throw new Refusal('conflict', `A submission can have at most ${maxReplies} replies. Delete a draft first.`)
      const now = clock.now()
      const reply: FormReply = {
        ...{ id: database.newId('frd', now), formId, submissionId, to: to.address, from: asked.from ?? null, ...content, template },
        ...{ createdBy, isByAgent: agent !== undefined, traceId: null, sentAt: null, createdAt: now, updatedAt: now },
      }
      change.insert(formReplies, organizationId, reply)
      return reply
    })
  }

  /** Returns the content and the recipient of a draft without creating it. Throws the errors of `create`. */
  async preview(principal: Principal, formId: string, submissionId: string, asked: NewReply): Promise<ReplyPreview> {
    const { record: form } = await must(this.#options.database, forms, principal, formId)
    const submission = await this.#submission(principal, formId, submissionId)
    const { address: to } = await this.#addressOf(principal, submission)
    const { content, filled } = await this.#render(principal, form, submission, asked)
    return { to, ...content, filled }
  }

  /** Lists drafts and sent replies, newest first, with the statuses of their messages. */
  async list(principal: Principal, formId: string, submissionId: string): Promise<readonly ListedReply[]> {
    const { database } = this.#options
    const { organizationId } = principal
    await must(database, forms, principal, formId)
    await this.#submission(principal, formId, submissionId)
    const walk = { index: 'submission', values: [formId, submissionId], limit: maxReplies }
    const replies = (await database.list(formReplies, { organizationId }, walk)).rows.map(({ record }) => record)
    const sent = replies.flatMap(({ traceId }) => traceId ?? [])
    const found = await database.getMany(traces, { organizationId }, sent)
    const statuses = new Map(sent.map((id, at) => [id, found[at]?.record.status]))
    return replies.map((reply) => ({ ...reply, traceStatus: statuses.get(reply.traceId ?? '') }))
  }

  /** Throws `conflict` for a sent reply. */
  update(principal: Principal, formId: string, id: string, { from, subject, text, html }: ReplyContent): Promise<FormReply> {
    return transact(this.#options.database, principal, async (change) => {
      await change.must(forms, formId)
      const stored = await this.#open(principal, formId, id)
      const reply: FormReply = {
        ...stored.record,
        ...(from !== undefined && { from }),
        ...(subject !== undefined && { subject }),
        ...(text !== undefined && { text }),
        ...(html !== undefined && { html }),
        updatedAt: this.#options.clock.now(),
      }
      requireContent(reply)
      change.replace(formReplies, principal.organizationId, stored, reply)
      return reply
    })
  }

  /** Throws `conflict` for a sent reply. */
  async remove(principal: Principal, formId: string, id: string): Promise<void> {
    await transact(this.#options.database, principal, async (change) => {
      await change.must(forms, formId)
      change.remove(formReplies, principal.organizationId, await this.#open(principal, formId, id))
    })
  }

  /**
   * Sends the reply exactly once: the write of the message records it in the reply. A repeated call returns the earlier result, also after
   * a crash. A reply with a pending approval returns that state; after a rejection it can be sent again.
   */
  async send(principal: Principal, formId: string, id: string): Promise<SentReply> {
    for (let tries = 1; ; tries++) {
      const { record: form } = await must(this.#options.database, forms, principal, formId)
      const stored = await this.#get(principal, formId, id)
      const known = await this.#known(principal, stored.record)
      if (known) return { reply: stored.record, acceptance: known }
      try {
        return await this.#send(principal, form, stored)
      } catch (error) {
        const isMet = error instanceof Refusal && error.code === 'conflict' // the reply or its submission changed in the meantime
        if (!isMet || tries === maxTries) throw error
      }
    }
  }

  async #send(principal: Principal, form: Form, stored: Stored<FormReply>): Promise<SentReply> {
    const { database, sendMessages } = this.#options
    let reply = stored.record
    const acceptance = await sendMessages.send(principal, orderOf(form, reply), {
      stage: async (change, trace) => {
        reply = await stageMessage(database, change, principal.organizationId, { stored, trace })
      },
    })
    return { reply, acceptance }
  }

  /** Repeats an agent's send after its user has opened the approval page. Waits up to 45 seconds for the decision of the approver. */
  async continueSend(principal: Principal, draftId: string, continues: Continues, signal: AbortSignal): Promise<OutcomeSoFar> {
    const { form, reply } = await this.#byId(principal, draftId)
    return this.#options.sendApprovals.continue(principal, continues, await requestDigest(orderOf(form, reply)), signal)
  }

  /** Returns the form of a draft, for callers without the form id. Throws `not_found`. */
  async formOf(principal: Principal, draftId: string): Promise<string> {
    return (await this.#byId(principal, draftId)).form.id
  }

  /** Returns the form of a submission, for callers without the form id. Throws `not_found`. */
  async formOfSubmission(principal: Principal, submissionId: string): Promise<string> {
    const { database } = this.#options
    const submission = (await database.get(formSubmissions, { organizationId: principal.organizationId }, submissionId))?.record
    const form = submission && (await database.get(forms, principal, submission.formId))
    if (form) return form.record.id
    throw new Refusal('not_found', 'No submission has this id.')
  }

  async #byId(principal: Principal, id: string): Promise<{ readonly form: Form; readonly reply: FormReply }> {
    const { database } = this.#options
    const reply = (await database.get(formReplies, { organizationId: principal.organizationId }, id))?.record
    const form = reply && (await database.get(forms, principal, reply.formId))
    if (form) return { form: form.record, reply }
    throw new Refusal('not_found', 'No reply draft has this id.')
  }

  /** Returns the earlier result of a reply that was sent or waits for approval. Retention may have removed its trace. */
  async #known({ organizationId }: Principal, { traceId: sent, heldTraceId }: FormReply): Promise<Acceptance | undefined> {
    const traceId = sent ?? heldTraceId
    if (traceId === undefined) return undefined
    const trace = await this.#options.database.get(traces, { organizationId }, traceId)
    const { outcome = 'relayed' } = trace?.record ?? {}
    return {
      traceId,
      outcome: outcome === 'refused' ? 'relayed' : outcome,
      repeated: true,
      ...(sent === null && { status: 'awaiting_approval' as const }),
    }
  }

  async #render(
    principal: Principal,
    form: Form,
    submission: FormSubmission,
    { templateId, templateVars = {}, subject, text, html }: NewReply,
  ) {
    if (templateId === undefined)
      return { content: { subject: subject ?? '', text: text ?? null, html: html ?? null }, filled: unfilled, template: null }
    if (text !== undefined || html !== undefined)
      throw invalid([{ path: 'template_id', message: 'cannot be combined with text and html; remove template_id or the content' }])
    const { version } = await this.#options.templates.get(principal, templateId)
    const own: Variables = { fields: namedAnswers(submission), form: { name: form.name } }
    const declared = version.schema === null ? own : pickedFor(version.schema, own)
    const order = { template: { id: templateId }, version: version.version, variables: { ...templateVars, ...declared } }
    const rendered = await this.#options.templates.render(principal, form.projectId, order)
    const content = { subject: subject ?? rendered.subject, text: rendered.text, html: rendered.html }
    const filled = { ...rendered.filled, ...(subject !== undefined && { subject: [] }) }
    return { content, filled, template: { id: templateId, version: rendered.from.version } }
  }

  /** Returns the address in the first answered field of type email. */
  async #addressOf({ organizationId }: Principal, { formId, version, answers }: FormSubmission): Promise<Mailbox> {
    const stored = await this.#options.database.get(formVersions, { organizationId }, versionId(formId, version))
    for (const { key, type } of stored?.record.definition.schema.fields ?? []) {
      const { [key]: answer } = answers
      const mailbox = type === 'email' && typeof answer === 'string' ? parseMailbox(answer) : undefined
      if (mailbox) return mailbox
    }
    throw noAddress()
  }

  async #submission({ organizationId }: Principal, formId: string, id: string): Promise<FormSubmission> {
    const stored = await this.#options.database.get(formSubmissions, { organizationId }, id)
    if (stored?.record.formId === formId) return stored.record
    throw new Refusal('not_found', 'No submission of this form has this id.')
  }

  async #open(principal: Principal, formId: string, id: string): Promise<Stored<FormReply>> {
    const stored = await this.#get(principal, formId, id)
    const { traceId, heldTraceId } = stored.record
    if (traceId !== null)
      throw new Refusal('conflict', 'This reply was already sent. Create another reply.', { details: { trace_id: traceId } })
    if (heldTraceId === undefined) return stored
    throw new Refusal('conflict', 'This reply awaits approval. Reject the approval first.', {
      details: { trace_id: heldTraceId },
    })
  }

  async #get({ organizationId }: Principal, formId: string, id: string): Promise<Stored<FormReply>> {
    const stored = await this.#options.database.get(formReplies, { organizationId }, id)
    if (stored?.record.formId === formId) return stored
    throw new Refusal('not_found', 'No reply draft of this form has this id.')
  }
}

/** Maximum number of tries. A concurrent send of the same reply fails with a conflict and is tried again. */
const maxTries = 10

/** Returns the message of a reply. */
function orderOf({ projectId }: Form, { to, from, subject, text, html }: FormReply): SendOrder {
  const mailbox = parseMailbox(to)
  if (!mailbox) throw noAddress()
  return {
    ...{ to: [mailbox], cc: [], bcc: [], replyTo: [], headers: [], attachments: [], template: undefined, destinationId: undefined },
    ...{ from: from === null ? undefined : parseMailbox(from), projectId },
    ...{ subject, text: text ?? undefined, html: html ?? undefined },
    idempotencyKey: undefined,
  }
}

function requireContent({ subject, text, html }: Pick<FormReply, 'subject' | 'text' | 'html'>): void {
  const problems = [
    ...(subject === '' ? [{ path: 'subject', message: 'is required without a template' }] : []),
    ...(text === null && html === null ? [{ path: 'text', message: 'is required without html and a template' }] : []),
  ]
  if (problems.length > 0) throw invalid(problems)
}

/** Returns only declared variables, because a strict template rejects others. */
function pickedFor(schema: Readonly<Record<string, unknown>>, own: Variables): Variables {
  const properties = schema['properties'] ?? {}
  return Object.fromEntries(Object.entries(own).filter(([name]) => Object.hasOwn(properties, name)))
}

const noAddress = (): Refusal => new Refusal('conflict', 'This submission has no email address for a reply.')
