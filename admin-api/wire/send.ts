/** The message envelope of `POST /v1/messages` and its answer. Spec "Message envelope", "Send response". */
import * as z from 'zod'
import { attachmentsMax } from '#core/submission/compose/attachments.ts'
import type { SendOrder } from '#core/submission/doors/send.ts'
import type { Acceptance } from '#core/submission/submission.ts'
import { attachment } from './attachment.ts'
import { encoder, type Decoded } from './codec.ts'
import { mailbox, mailboxes } from './mailbox.ts'
import { messageHeaders } from './message-headers.ts'
import { sendTime } from './scheduled-send.ts'
import { checkTemplateFields, namesTemplate, templateFields, toTemplateOrder } from './template.ts'
import { besideFaults, environmentName, filledLine, id, line, nameLine } from './text.ts'
import { outcomes } from './trace.ts'

const addressesMax = 100
const replyToMax = 10
/** So that the field with its name keeps to a line (RFC 5322 §2.1.1). */
const subjectMax = 989

/** What a list is called; an address would look like the list of a sender. */
const listName = nameLine(100).refine((name) => !name.includes('@'), 'is a name such as news; true is the list of the sender’s address')

export const sendInput = z
  .strictObject({
    to: mailboxes(addressesMax).refine((list) => list.length > 0, 'must not be empty'),
    cc: mailboxes(addressesMax).optional(),
    bcc: mailboxes(addressesMax).optional().meta({ description: 'In no header field.' }),
    from: mailbox.optional().meta({ description: 'That of the destination unless told.' }),
    reply_to: mailboxes(replyToMax).optional(),
    subject: line(subjectMax).default('').meta({ description: 'With a template, instead of the subject it has.' }),
    text: z.string().max(26_214_400).optional(),
    html: z.string().max(26_214_400).optional(),
    headers: messageHeaders.optional(),
    attachments: z
      .array(attachment)
      .max(attachmentsMax)
      .optional()
      .meta({
        description:
          'Base64 makes files larger by 37 %, and the whole message must keep to the largest size that the service takes: ' +
          'in its default of 26214400 bytes fit 19.1 MB of files beside a short text. A refusal tells both sizes.',
      }),
    destination_id: id.nullable().optional().meta({ description: 'Routing rules decide unless told.' }),
    environment: environmentName.nullable().optional().meta({
      description:
        'In place of destination_id: the live, healthy destination of this environment with the smallest priority takes the message, among equals the older.',
    }),
    project_id: id.optional(),
    idempotency_key: filledLine(256, 'The same key within 24 hours gives the same trace and no second send.').optional(),
    send_at: sendTime.nullable().optional(),
    scheduled_at: sendTime.nullable().optional().meta({ description: 'Another name for send_at.' }),
    list_unsubscribe: z
      .union([z.boolean(), z.strictObject({ list: listName })])
      .optional()
      .meta({
        description:
          'Adds a link by which the one recipient leaves a list with one click (RFC 8058): `true` is the list of the sender’s address, `{"list": "news"}` the list of ' +
          'this name in the project. Later sends of that list are kept from them with the status `suppressed`; all other mail goes on. See ' +
          '`GET /v1/unsubscribes`. Relayed only where the service has a public https address.',
      }),
    verp_enabled: z.boolean().optional().meta({
      description:
        'Gives each recipient a return path of its own. Where that is not possible the message goes without, and its trace says why.',
    }),
    click_tracking_enabled: z.boolean().optional().meta({
      description:
        'Links of the HTML lead over this service, so that the trace tells of clicks. Without effect where the plan or a flag bars it.',
    }),
    open_tracking_enabled: z.boolean().optional().meta({
      description: 'The HTML gets a small image, so that the trace tells of openings. Without effect where the plan or a flag bars it.',
    }),
    ...templateFields,
  })
  .superRefine(checkTemplateFields)
  .refine((body) => body.text !== undefined || body.html !== undefined || (body.attachments?.length ?? 0) > 0 || namesTemplate(body), {
    ...besideFaults,
    path: ['text'],
    message: 'give text, html, both, or a template; a message needs a body',
  })
  .refine((body) => body.environment == null || body.destination_id == null, {
    path: ['environment'],
    message: 'stands in place of destination_id; give one of them',
  })
  .refine((body) => body.send_at == null || body.scheduled_at == null, {
    path: ['scheduled_at'],
    message: 'is the same as send_at; give one',
  })

const sendShape = z
  .object({
    trace_id: z.uuidv4(),
    outcome: z.enum(outcomes),
    status: z.enum(['queued', 'suppressed']).optional(),
    warnings: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'What the caller should look at although the request was taken.' }),
  })
  .meta({ id: 'SendResponse' })

/** The order of its fields is that of `orderDigest`, which is kept. */
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
})

const otherBody = {
  path: 'idempotency_key',
  message:
    'This key was used within 24 hours for a request with another body. The answer is that of the first one, and this one was not sent; ' +
    'use another key for another message.',
}

/** Another body under a repeated idempotency key is told by a warning. */
export const acceptance = encoder(sendShape).from<Acceptance>({ warnings: ({ differs }) => (differs ? [otherBody] : undefined) })
