/** Calls of Mailjet’s clients: look-ups of sent mail. */
import * as z from 'zod'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer } from '../../operation/answer.ts'
import { toWireTime } from '../../wire/fields/time.ts'
import { dialectCall, type DialectCall } from '../dialect.ts'
import { latestStatus, mailEvents, type LatestStatus, type MailEvent } from '../mail-events.ts'

const statuses: Readonly<Record<LatestStatus, string>> = {
  ...{ queued: 'queued', scheduled: 'queued', deferred: 'deferred', sent: 'sent', delivered: 'sent', captured: 'unknown' },
  ...{ opened: 'opened', clicked: 'clicked', bounced: 'bounce', complained: 'spam', suppressed: 'blocked', failed: 'hardbounced' },
  canceled: 'unknown',
}

const eventNames: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ sent: 'sent', failed: 'hardbounced', delivered: 'sent', bounced: 'bounce', complained: 'spam', suppressed: 'blocked' },
  ...{ opened: 'opened', clicked: 'clicked' },
}

const params = z.strictObject({ id: z.string() })
const list = (Data: readonly object[]) => answer({ Count: Data.length, Data, Total: Data.length }, {})

export const mailjetCalls: readonly DialectCall[] = [
  dialectCall({
    operationId: 'getMessageByMailjet',
    method: 'GET',
    path: '/v3/REST/message/{id}',
    scope: 'api:read',
    params,
    async handle(mail, { params: { id } }) {
      const details = await mail.details(id)
      const { trace } = details
      return list([
        {
          ...{ ID: trace.id, UUID: trace.id, ArrivedAt: toWireTime(trace.createdAt), Status: statuses[latestStatus(details)] },
          ...{ Subject: decodeEncodedWords(trace.subject), ContactAlt: trace.recipients[0]?.address ?? '', SenderAlt: trace.headerFrom },
          ...{ AttemptCount: trace.attempts, MessageSize: trace.content.size },
        },
      ])
    },
  }),
  dialectCall({
    operationId: 'getHistoryByMailjet',
    method: 'GET',
    path: '/v3/REST/messagehistory/{id}',
    scope: 'api:read',
    params,
    async handle(mail, { params: { id } }) {
      const events = mailEvents(await mail.details(id)).flatMap((event) => {
        const EventType = eventNames[event.type]
        return EventType === undefined ? [] : [{ EventType, EventAt: Math.floor(event.at / 1000), Comment: event.reason ?? '', State: '' }]
      })
      return list(events)
    },
  }),
]
