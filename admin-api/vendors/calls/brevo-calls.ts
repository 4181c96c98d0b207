/** Calls of Brevo’s clients: look-ups of sent mail, and cancellation of scheduled mail. */
import * as z from 'zod'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import { answer, raw } from '../../operation/answer.ts'
import { orNull, toWireTime } from '../../wire/fields/time.ts'
import { dialectCall, type DialectCall } from '../dialect.ts'
import { mailEvents, type MailEvent } from '../mail-events.ts'

/** Returns the event name of Brevo, if it has one. Acceptance by a provider is not a delivery. */
function nameOf({ type, bounce }: MailEvent): string | undefined {
  if (type === 'bounced') return bounce === 'soft' ? 'softBounces' : bounce === 'block' ? 'blocked' : 'hardBounces'
  return eventNames[type]
}

const eventNames: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ accepted: 'requests', deferred: 'deferred', failed: 'error', delivered: 'delivered', suppressed: 'blocked' },
  ...{ complained: 'spam', opened: 'opened', clicked: 'clicks' },
}

const messageId = z.string('is required; use GET /v1/traces to search all mail').max(1000)
const maxListed = 5000

const idOf = ({ trace }: TraceDetails, publicHost: string): string => `<${trace.id}@${publicHost}>`

const calls = {
  list: dialectCall({
    operationId: 'listEmailsByBrevo',
    method: 'GET',
    path: '/v3/smtp/emails',
    scope: 'api:read',
    query: z.looseObject({ messageId, email: z.string().max(320).optional() }),
    async handle(mail, { query, publicHost }) {
      const details = await mail.details(query.messageId)
      const { trace } = details
      const shared = {
        ...{ subject: decodeEncodedWords(trace.subject), messageId: idOf(details, publicHost), uuid: trace.id },
        ...{ date: toWireTime(trace.createdAt), from: trace.headerFrom, tags: trace.tags ?? [] },
      }
      const to = trace.recipients.filter(({ address }) => isSame(address, query.email))
      return answer({ count: to.length, transactionalEmails: to.map(({ address: email }) => ({ email, ...shared })) }, {})
    },
  }),
  content: dialectCall({
    operationId: 'getEmailByBrevo',
    method: 'GET',
    path: '/v3/smtp/emails/{uuid}',
    scope: 'api:read',
    params: z.strictObject({ uuid: z.string() }),
    async handle(mail, { params: { uuid } }) {
      const details = await mail.details(uuid)
      const { trace } = details
      const message = await mail.message(trace)
      const events = mailEvents(details).flatMap((event) => {
        const name = nameOf(event)
        return name === undefined ? [] : [{ name, time: toWireTime(event.at) }]
      })
      return answer(
        {
          ...{
            email: trace.recipients[0]?.address ?? '',
            subject: decodeEncodedWords(trace.subject),
            date: toWireTime(trace.createdAt),
            events,
          },
          ...{ body: message?.html || message?.text || '', attachmentCount: message?.attachments.length ?? 0 },
        },
        {},
      )
    },
  }),
  events: dialectCall({
    operationId: 'listEventsByBrevo',
    method: 'GET',
    path: '/v3/smtp/statistics/events',
    scope: 'api:read',
    query: z.looseObject({
      ...{
        messageId,
        email: z.string().max(320).optional(),
        event: z.string().max(40).optional(),
        sort: z.enum(['asc', 'desc']).optional(),
      },
      ...{ limit: z.coerce.number().int().min(0).max(maxListed).default(2500), offset: z.coerce.number().int().min(0).default(0) },
    }),
    async handle(mail, { query, publicHost }) {
      const details = await mail.details(query.messageId)
      const { trace } = details
      const all = mailEvents(details).flatMap((event) => {
        const name = nameOf(event)
        if (name === undefined || (query.event ?? name) !== name || !isSame(event.recipient ?? '', query.email)) return []
        return [
          {
            ...{ email: event.recipient ?? '', date: toWireTime(event.at), subject: decodeEncodedWords(trace.subject), event: name },
            ...{ messageId: idOf(details, publicHost), from: trace.headerFrom, tag: trace.tags?.[0] ?? '' },
            ...(event.reason !== undefined && { reason: event.reason }),
            ...(event.url !== undefined && { link: event.url }),
          },
        ]
      })
      const ordered = query.sort === 'asc' ? all : all.toReversed()
      return answer({ events: ordered.slice(query.offset, query.offset + query.limit) }, {})
    },
  }),
  scheduled: dialectCall({
    operationId: 'getScheduledByBrevo',
    method: 'GET',
    path: '/v3/smtp/emailStatus/{identifier}',
    scope: 'api:read',
    params: z.strictObject({ identifier: z.string() }),
    async handle(mail, { params: { identifier } }) {
      const { trace } = await mail.details(identifier)
      const isWaiting = trace.status === 'queued' && trace.begunAt === undefined
      const status = trace.status === 'canceled' ? 'error' : isWaiting ? 'queued' : 'processed'
      return answer({ scheduledAt: orNull(trace.sendAt ?? trace.createdAt), createdAt: toWireTime(trace.createdAt), status }, {})
    },
  }),
  cancel: dialectCall({
    operationId: 'cancelByBrevo',
    method: 'DELETE',
    path: '/v3/smtp/email/{identifier}',
    scope: 'api:send',
    errors: ['conflict'],
    params: z.strictObject({ identifier: z.string() }),
    async handle(mail, { params: { identifier } }) {
      await mail.cancel(identifier)
      return raw('', { contentType: 'text/plain', status: 204 })
    },
  }),
} as const

const isSame = (address: string, asked: string | undefined): boolean => asked === undefined || address.toLowerCase() === asked.toLowerCase()

export const brevoCalls: readonly DialectCall[] = Object.values(calls)
