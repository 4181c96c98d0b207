/** Resend: `POST /emails` and `POST /emails/batch`; look-up, cancellation and rescheduling of a message. */
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { ReadAddress } from '#core/capture/reading/message-reader.ts'
import { Refusal, refusals } from '#core/refusals.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer } from '../../operation/answer.ts'
import { orNull, toWireTime } from '../../wire/fields/time.ts'
import {
  dialectCall,
  dialectSend,
  useNewKey,
  type Dialect,
  type DialectCall,
  type DialectMessage,
  type DialectRequest,
} from '../dialect.ts'
import { errorAnswer, vendorCode, type VendorCodes } from '../error-body.ts'
import { latestStatus, type LatestStatus } from '../mail-events.ts'
import { mailboxText, type SentMail } from '../sent-mail.ts'
import { labelled } from '../body/labels.ts'
import { anyMap, refused, templateName, text, textMap, timeOfText } from '../body/reading.ts'
import { templateFields } from '../body/templates.ts'

const addresses = z.union([z.string(), z.array(z.string())]).nullish()

/** Base64, or a serialized Buffer, which older clients send. */
const content = z.union([
  z.string(),
  z
    .object({ type: z.literal('Buffer'), data: z.array(z.int().min(0).max(255)) })
    .transform(({ data }) => Buffer.from(data).toString('base64')),
])

const attachment = z.looseObject({
  filename: z.union([z.string(), z.literal(false)]).nullish(),
  content: content.optional(),
  path: refused('fetch the file and send it as content'),
  content_type: text,
  content_id: text,
  inline_content_id: text,
})

const email = z.looseObject({
  from: text,
  to: addresses,
  cc: addresses,
  bcc: addresses,
  reply_to: addresses,
  subject: text,
  html: text,
  text,
  headers: textMap,
  attachments: z.array(attachment).nullish(),
  tags: z.array(z.looseObject({ name: z.string(), value: z.string() })).nullish(),
  scheduled_at: text,
  template: z.looseObject({ id: templateName, variables: anyMap }).nullish(),
  topic_id: refused('use list_unsubscribe of POST /v1/messages, or leave it out'),
})

type Email = z.output<typeof email>

const messageOf = (given: Email, { nowMs }: DialectRequest): DialectMessage => ({
  names: {
    send_at: 'scheduled_at',
    metadata: 'tags',
    template_id: 'template.id',
    template_slug: 'template.id',
    template_vars: 'template.variables',
  },
  fields: () => ({
    ...{ from: given.from, to: given.to ?? [], cc: given.cc, bcc: given.bcc, reply_to: given.reply_to },
    ...{ subject: given.subject, html: given.html, text: given.text, headers: given.headers },
    ...templateFields(given.template?.id, () => given.template?.variables),
    attachments: given.attachments?.map((file) => ({
      filename: file.filename || undefined,
      content: file.content,
      content_type: file.content_type,
      content_id: file.content_id ?? file.inline_content_id,
    })),
    send_at: scheduledAt(given.scheduled_at, nowMs),
  }),
  own: [given],
  labels: labelled([], given.tags?.map(({ name, value }, i) => [`tags[${String(i)}]`, name, value] as const) ?? []),
})

const units: Readonly<Record<string, number>> = { sec: 1000, min: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Parses RFC 3339, or a time span in English such as `in 5 min`. */
function scheduledAt(given: string | null | undefined, nowMs: number): string | undefined {
  const [, count = '', unit = ''] = /^in +(\d{1,6}|an?|one) +(sec|min|hour|day)(?:ond|ute)?s?$/i.exec(given?.trim() ?? '') ?? []
  const span = units[unit.toLowerCase()]
  if (span === undefined) return timeOfText(given)
  return new Date(nowMs + (/^\d/.test(count) ? Number(count) : 1) * span).toISOString()
}

function idempotencyKeyOf({ headers: { 'idempotency-key': given } }: DialectRequest): string | undefined {
  return typeof given === 'string' && given !== '' ? given : undefined
}

const errorNames: VendorCodes<string> = {
  validation_failed: 'validation_error',
  unauthorized: 'invalid_api_key',
  insufficient_scope: 'restricted_api_key',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  conflict: 'validation_error',
  sender_not_allowed: 'invalid_from_address',
  rate_limit_exceeded: 'rate_limit_exceeded',
  quota_exhausted: 'monthly_quota_exceeded',
  quota_exceeded: 'monthly_quota_exceeded',
  quota_exhausted_captures: 'monthly_quota_exceeded',
  project_budget_exhausted: 'daily_quota_exceeded',
  internal_error: 'internal_server_error',
  else: 'application_error',
}

/** Statuses of Resend: a missing permission is 401, like an invalid key. */
const statuses: VendorCodes<number | undefined> = { validation_failed: 422, insufficient_scope: 401, else: undefined }

const statusOf = (refusal: Refusal): number => vendorCode(statuses, refusal) ?? refusals[refusal.code].http

const lastEvents: Readonly<Record<LatestStatus, string>> = {
  ...{ queued: 'queued', scheduled: 'scheduled', canceled: 'canceled', deferred: 'delivery_delayed', sent: 'sent', captured: 'sent' },
  ...{ delivered: 'delivered', opened: 'opened', clicked: 'clicked', bounced: 'bounced', complained: 'complained' },
  ...{ suppressed: 'suppressed', failed: 'failed' },
}

/** Returns the sent message; without its content if the content is no longer stored. */
async function shown(mail: SentMail, id: string) {
  const details = await mail.details(id)
  const { trace } = details
  const message = await mail.message(trace)
  const written = (people: readonly ReadAddress[] = []) => people.map(mailboxText)
  const orNone = (list: readonly string[]): readonly string[] | null => (list.length > 0 ? list : null)
  const seen = trace.recipients.filter(({ bcc }) => !bcc).map(({ address }) => address)
  const [from = trace.headerFrom] = written(message?.from)
  return {
    ...{ object: 'email', id: trace.id, message_id: `<${trace.messageId}>`, from, to: message ? written(message.to) : seen },
    ...{ cc: orNone(written(message?.cc)), bcc: orNone(trace.recipients.filter(({ bcc }) => bcc).map(({ address }) => address)) },
    ...{ reply_to: orNone(written(message?.replyTo)), subject: decodeEncodedWords(trace.subject) },
    ...{ html: message?.html || null, text: message?.text || null, topic_id: null },
    tags: Object.entries(trace.metadata ?? {}).map(([name, value]) => ({ name, value })),
    ...{ created_at: toWireTime(trace.createdAt), scheduled_at: orNull(trace.sendAt), last_event: lastEvents[latestStatus(details)] },
  }
}

const params = z.strictObject({ id: z.string() })
const one = '/emails/{id}'

const calls: readonly DialectCall[] = [
  dialectCall({
    operationId: 'getEmailByResend',
    method: 'GET',
    path: one,
    scope: 'api:read',
    params,
    handle: async (mail, { params: { id } }) => answer(await shown(mail, id), {}),
  }),
  dialectCall({
    operationId: 'rescheduleByResend',
    method: 'PATCH',
    path: one,
    scope: 'api:send',
    params,
    body: z.looseObject({ scheduled_at: z.string() }),
    errors: ['conflict', 'feature_disabled'],
    names: { send_at: 'scheduled_at' },
    async handle(mail, { params: { id }, body, nowMs }) {
      const trace = await mail.reschedule(id, scheduledAt(body.scheduled_at, nowMs))
      return answer({ object: 'email', id: trace.id }, {})
    },
  }),
  dialectCall({
    operationId: 'cancelByResend',
    method: 'POST',
    path: `${one}/cancel`,
    scope: 'api:send',
    params,
    errors: ['conflict'],
    handle: async (mail, { params: { id } }) => answer({ object: 'email', id: (await mail.cancel(id)).id }, {}),
  }),
]

const isPermissive = ({ 'x-batch-validation': asked }: IncomingHttpHeaders): boolean => asked === 'permissive'

export const resend: Dialect = {
  name: 'Resend',
  sends: [
    dialectSend({
      operationId: 'sendByResend',
      path: '/emails',
      body: email,
      translate: (given, request) => ({ messages: [messageOf(given, request)], isStrict: true, idempotencyKey: idempotencyKeyOf(request) }),
      answer: ([sent]) => answer({ id: sent instanceof Refusal ? '' : sent?.traceId }, {}),
    }),
    dialectSend({
      operationId: 'sendBatchByResend',
      path: '/emails/batch',
      body: z.array(email).min(1).max(100),
      translate: (given, request) => ({
        messages: given.map((one) => messageOf(one, request)),
        isStrict: !isPermissive(request.headers),
        idempotencyKey: idempotencyKeyOf(request),
        own: given,
      }),
      answer(sent, _, _host, headers) {
        const data = sent.flatMap((one) => (one instanceof Refusal ? [] : [{ id: one.traceId }]))
        const errors = sent.flatMap((one, index) => (one instanceof Refusal ? [{ index, message: one.message }] : []))
        return answer({ data, ...(isPermissive(headers) && { errors }) }, {})
      },
    }),
  ],
  calls,
  refused(refusal) {
    const statusCode = statusOf(refusal)
    const name = refusal.nextAction === useNewKey ? 'invalid_idempotent_request' : vendorCode(errorNames, refusal)
    return errorAnswer({ statusCode, name, message: refusal.message }, refusal, statusCode)
  },
}
