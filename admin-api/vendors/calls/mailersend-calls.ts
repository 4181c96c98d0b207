/** Calls of MailerSend’s clients: look-ups of sent mail, and cancellation of scheduled mail. */
import * as z from 'zod'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer, raw } from '../../operation/answer.ts'
import { toWireTime } from '../../wire/fields/time.ts'
import { dialectCall, type DialectCall } from '../dialect.ts'
import { mailEvents, type MailEvent } from '../mail-events.ts'

const statuses: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ accepted: 'queued', scheduled: 'queued', sent: 'sent', deferred: 'deferred', failed: 'hard_bounced', delivered: 'delivered' },
  ...{ suppressed: 'rejected', complained: 'spam_complaint', opened: 'opened', clicked: 'clicked' },
}

/** Returns the latest status of a recipient. */
function statusOf(details: TraceDetails, address: string): string {
  const own = mailEvents(details).filter(({ recipient }) => recipient === address)
  const status = own.map(({ type, bounce }) =>
    type === 'bounced' && bounce === 'soft' ? 'soft_bounced' : type === 'bounced' ? 'hard_bounced' : statuses[type],
  )
  return status.findLast((word) => word !== undefined) ?? 'queued'
}

const params = z.strictObject({ id: z.string() })

async function reportOf(mail: Parameters<DialectCall['handle']>[0], id: string) {
  const { at, accepted, refused } = await mail.bulk(id)
  const traces = []
  for (const one of accepted) traces.push((await mail.details(one)).trace)
  const recipients = traces.flatMap((trace) => trace.recipients)
  const suppressed = recipients.filter(({ status }) => status === 'suppressed').map(({ address }) => address)
  return {
    ...{ id, state: 'completed', total_recipients_count: recipients.length },
    ...{ suppressed_recipients_count: suppressed.length, suppressed_recipients: suppressed.length > 0 ? suppressed : null },
    validation_errors_count: refused.length,
    validation_errors:
      refused.length > 0 ? Object.fromEntries(refused.map(({ index, message }) => [`message.${String(index)}`, [message]])) : null,
    ...{ messages_id: accepted, created_at: toWireTime(at), updated_at: toWireTime(at) },
  }
}

export const mailersendCalls: readonly DialectCall[] = [
  dialectCall({
    operationId: 'getMessageByMailerSend',
    method: 'GET',
    path: '/v1/messages/{id}',
    scope: 'api:read',
    params,
    async handle(mail, { params: { id } }) {
      const details = await mail.details(id)
      const { trace } = details
      const message = await mail.message(trace)
      const [created_at, updated_at] = [toWireTime(trace.createdAt), toWireTime(trace.updatedAt)]
      const emails = trace.recipients.map(({ address }) => ({
        ...{ id: trace.id, from: trace.headerFrom, subject: decodeEncodedWords(trace.subject) },
        ...{ text: message?.text ?? '', html: message?.html ?? '', status: statusOf(details, address), recipient: { email: address } },
        ...{ tags: trace.tags ?? null, created_at, updated_at },
      }))
      return answer({ data: { id: trace.id, created_at, updated_at, emails } }, {})
    },
  }),
  dialectCall({
    operationId: 'getBulkByMailerSend',
    method: 'GET',
    path: '/v1/bulk-email/{id}',
    scope: 'api:read',
    params,
    handle: async (mail, { params: { id } }) => answer({ data: await reportOf(mail, id) }, {}),
  }),
  dialectCall({
    operationId: 'getScheduleByMailerSend',
    method: 'GET',
    path: '/v1/message-schedules/{id}',
    scope: 'api:read',
    params,
    async handle(mail, { params: { id } }) {
      const { trace } = await mail.details(id)
      const isWaiting = trace.status === 'queued' && trace.begunAt === undefined
      const status = trace.status === 'canceled' ? 'deleted' : isWaiting ? 'scheduled' : 'sent'
      const data = { message_id: trace.id, subject: decodeEncodedWords(trace.subject), status, status_message: null }
      return answer(
        { data: { ...data, send_at: toWireTime(trace.sendAt ?? trace.createdAt), created_at: toWireTime(trace.createdAt) } },
        {},
      )
    },
  }),
  dialectCall({
    operationId: 'cancelByMailerSend',
    method: 'DELETE',
    path: '/v1/message-schedules/{id}',
    scope: 'api:send',
    params,
    errors: ['conflict'],
    async handle(mail, { params: { id } }) {
      await mail.cancel(id)
      return raw('', { contentType: 'text/plain', status: 204 })
    },
  }),
]
