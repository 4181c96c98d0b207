/** The message envelope of `POST /v1/messages` and its response. Spec "Message envelope", "Send response". */
import * as z from 'zod'
import { maxAttachments } from '#core/submission/compose/attachments.ts'
import type { SendOrder } from '#core/submission/doors/send-messages.ts'
import type { AwaitedApproval } from '#core/submission/approval/send-approvals.ts'
import { labelLimits } from '#core/submission/labels.ts'
import type { Acceptance } from '#core/submission/submission.ts'
import { attachment } from './attachment.ts'
import { encoder, type Decoded } from '../fields/codec.ts'
import { mailbox, mailboxes } from '../fields/mailbox.ts'
import { messageHeaders } from './message-headers.ts'
import { sendTime } from './scheduled-send.ts'
import { checkTemplateFields, namesTemplate, templateFields, toTemplateOrder } from './template.ts'
import { besideFaults, environmentName, fewFields, filledLine, id, isOneLine, line, nameLine } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'
import { outcomes } from './trace.ts'

const maxAddresses = 100
const maxReplyTo = 10
/** Keeps the field with its name on one line (RFC 5322 §2.1.1). */
const maxSubject = 989

/** The name of an unsubscribe list. Addresses are refused, since an address identifies the list of a sender. */
const listName = nameLine(100).refine(
  (name) => !name.includes('@'),
  'must be a name such as news, or true for the list of the sender’s address',
)

export const idempotencyKey = filledLine(256)

export const tags = z
  .array(nameLine(labelLimits.tag).transform((tag) => tag.toWellFormed()))
  .max(labelLimits.tags)
  .meta({
    description: 'Stored in the trace and in webhook events, and searchable with `?tag=`; recipients do not see tags. Case-insensitive.',
  })

export const metadata = z
  .preprocess(
    fewFields(labelLimits.fields),
    z.record(
      filledLine(labelLimits.name),
      z.string().max(labelLimits.value).refine(isOneLine, 'must be on one line, without control characters'),
    ),
  )
  .refine(
    (fields) => Object.entries(fields).reduce((sum, [name, value]) => sum + name.length + value.length, 0) <= labelLimits.metadata,
    `at most ${labelLimits.metadata} characters in all names and values`,
  )
  .meta({
    description:
      `At most ${labelLimits.fields} fields, and ${labelLimits.metadata} characters. Stored in the trace and in webhook events, ` +
      `and searchable with \`?metadata=name:value\`; recipients do not see metadata.`,
  })

export const sendInput = z
  .strictObject({
    to: mailboxes(maxAddresses).refine((list) => list.length > 0, 'must not be empty'),
    cc: mailboxes(maxAddresses).optional(),
    bcc: mailboxes(maxAddresses).optional().meta({ description: 'Blind copies, not listed in a header field.' }),
    from: mailbox.optional().meta({ description: 'Defaults to the From of the destination.' }),
    reply_to: mailboxes(maxReplyTo).optional(),
    subject: line(maxSubject).default('').meta({ description: 'With a template, replaces its subject.' }),
    text: z.string().max(26_214_400).optional(),
    html: z.string().max(26_214_400).optional(),
    headers: messageHeaders.optional(),
    attachments: z
      .array(attachment)
      .max(maxAttachments)
      .optional()
      .meta({
        description:
          'Base64 enlarges files by 37 %. The size limit of the service is for the whole message; the default of 26214400 bytes ' +
          'fits 19.1 MB of files.',
      }),
    destination_id: id.nullable().optional().meta({ description: 'By default, routing rules select the destination.' }),
    environment: environmentName.nullable().optional().meta({
      description:
        'Alternative to destination_id: the live, healthy destination of this environment with the smallest priority, or the oldest of these.',
    }),
    project_id: id.optional(),
    idempotency_key: idempotencyKey
      .optional()
      .meta({ description: 'A request with the same key within 24 hours returns the same trace and sends nothing.' }),
    send_at: sendTime.nullable().optional(),
    scheduled_at: sendTime.nullable().optional().meta({ description: 'Alias of `send_at`.' }),
    tags: tags.optional(),
    metadata: metadata.optional(),
    list_unsubscribe: z
      .union([z.boolean(), z.strictObject({ list: listName })])
      .optional()
      .meta({
        description:
          'Adds a link that unsubscribes the only recipient with one click (RFC 8058): `true` from the list of the sender’s ' +
          'address, `{"list": "news"}` from the list with this name in the project. Later sends of that list to the recipient ' +
          'get the status `suppressed`; other mail is not affected. See `GET /v1/unsubscribes`. Relayed only if the service has ' +
          'a public https address.',
      }),
    verp_enabled: z
      .boolean()
      .optional()
      .meta({
        description:
          'Gives each recipient a separate return path (VERP). If that is not possible, the message is sent without VERP, and its ' +
          'trace states the reason.',
      }),
    click_tracking_enabled: z.boolean().optional().meta({
      description: 'Rewrites the links of the HTML so that the trace records clicks. Has no effect if the plan or a flag excludes it.',
    }),
    open_tracking_enabled: z.boolean().optional().meta({
      description: 'Adds a small image to the HTML so that the trace records opens. Has no effect if the plan or a flag excludes it.',
    }),
    ...templateFields,
  })
  .superRefine(checkTemplateFields)
  .refine((body) => body.text !== undefined || body.html !== undefined || (body.attachments?.length ?? 0) > 0 || namesTemplate(body), {
    ...besideFaults,
    path: ['text'],
    message: 'a message needs a body; give text, html, both, or a template',
  })
  .refine((body) => body.environment == null || body.destination_id == null, {
    path: ['environment'],
    message: 'replaces destination_id; give only one of them',
  })
  .refine((body) => body.send_at == null || body.scheduled_at == null, {
    path: ['scheduled_at'],
    message: 'is an alias of send_at; give only one of them',
  })
  .meta({ id: 'NewMessage' })

const sendShape = z
  .object({
    trace_id: z.uuidv4(),
    outcome: z.enum(outcomes),
    status: z
      .enum(['queued', 'suppressed', 'awaiting_approval'])
      .optional()
      .meta({ description: 'awaiting_approval: an agent sent the message, and a member must approve it first.' }),
    warnings: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'Problems that did not prevent acceptance of the request.' }),
  })
  .meta({ id: 'SendResponse' })

/** The fields are in the order of `orderDigest`, whose digests are stored. */
export const toSendOrder = (given: Decoded<typeof sendInput>): SendOrder => ({
  from: given.from,
  to: given.to,
  cc: given.cc ?? [],
  bcc: given.bcc ?? [],
  replyTo: given.replyTo ?? [],
  subject: given.subject,
  text: given.text,
  html: given.html,
  headers: given.headers ?? [],
  attachments: given.attachments ?? [],
  destinationId: given.destinationId ?? undefined,
  environment: given.environment ?? undefined,
  projectId: given.projectId,
  idempotencyKey: given.idempotencyKey,
  sendAt: given.sendAt ?? given.scheduledAt ?? undefined,
  template: toTemplateOrder(given),
  listUnsubscribe: given.listUnsubscribe,
  verpEnabled: given.verpEnabled,
  tracking: { clicks: given.clickTrackingEnabled ?? false, opens: given.openTrackingEnabled ?? false },
  tags: given.tags,
  metadata: given.metadata,
})

const otherBody = {
  path: 'idempotency_key',
  message:
    'This key was used within 24 hours for a request with a different body. This is the response to the first request, and the ' +
    'second message was not sent. Use a new key for each message.',
}

const unrouted = {
  path: 'destination_id',
  message:
    'No routing rule, project environment or default sender selects a destination for this message, so it was captured. The ' +
    'project has a live destination: create a routing rule for it, or give destination_id.',
}

const sendCode = {
  warnings: ({ differs, isUnrouted }: Pick<Acceptance, 'differs' | 'isUnrouted'>) =>
    differs || isUnrouted ? [...(differs ? [otherBody] : []), ...(isUnrouted ? [unrouted] : [])] : undefined,
}

/**
 * Adds warnings: a different body under a repeated idempotency key, and a message captured without a route although the project has a live
 * destination.
 */
export const acceptance = encoder(sendShape).from<Acceptance>(sendCode)

const approval = z
  .object({
    url: z.string().meta({ description: 'URL of the page for a signed-in member to review and approve the message.' }),
    digest: z.string(),
    expires_at: wireTime,
  })
  .meta({
    description:
      'Present with the status awaiting_approval. The message is not sent until a member approves it, and is then sent automatically.',
  })

const approvalEncoder = encoder(approval).from<AwaitedApproval>()

/** The response to agents. */
export const agentAcceptance = encoder(sendShape.extend({ approval: approval.optional() }).meta({ id: 'AgentSendResponse' })).from<
  Pick<Acceptance, 'traceId' | 'outcome' | 'status' | 'differs' | 'isUnrouted'> & { readonly approval?: AwaitedApproval | undefined }
>({ ...sendCode, approval: ({ approval: awaited }) => awaited && approvalEncoder.encode(awaited) })
