/** Calls of the clients of Amazon SES: look-ups of sent mail. */
import * as z from 'zod'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { answer } from '../../operation/answer.ts'
import { dialectCall, type DialectCall } from '../dialect.ts'
import { mailEvents, type MailEvent } from '../mail-events.ts'

/** Event types of SES, for events that it has. Acceptance by a provider is not a delivery. */
const eventNames: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ accepted: 'SEND', deferred: 'DELIVERY_DELAY', failed: 'BOUNCE', delivered: 'DELIVERY', bounced: 'BOUNCE' },
  ...{ suppressed: 'BOUNCE', complained: 'COMPLAINT', opened: 'OPEN', clicked: 'CLICK' },
}

function detailsOf({ type, bounce, reason }: MailEvent) {
  if (eventNames[type] !== 'BOUNCE') return undefined
  const isPermanent = type !== 'bounced' || bounce === 'hard'
  const sub = type === 'suppressed' ? 'OnAccountSuppressionList' : 'General'
  const BounceType = isPermanent ? 'PERMANENT' : bounce ? 'TRANSIENT' : 'UNDETERMINED'
  return { Bounce: { BounceType, BounceSubType: sub, ...(reason !== undefined && { DiagnosticCode: reason }) } }
}

export const sesCalls: readonly DialectCall[] = ['/v2/email/insights/{id}', '/v2/email/insights/{id}/'].map((path, i) =>
  dialectCall({
    operationId: i === 0 ? 'getInsightsBySes' : 'getInsightsBySesWithSlash',
    method: 'GET',
    path,
    scope: 'api:read',
    params: z.strictObject({ id: z.string() }),
    async handle(mail, { params: { id } }) {
      const details = await mail.details(id)
      const { trace } = details
      const events = mailEvents(details)
      const Insights = trace.recipients.map(({ address }) => ({
        Destination: address,
        Events: events.flatMap((event) => {
          const Type = eventNames[event.type]
          if (Type === undefined || event.recipient !== address) return []
          return [{ Timestamp: event.at / 1000, Type, Details: detailsOf(event) }]
        }),
      }))
      return answer(
        {
          ...{ MessageId: trace.id, FromEmailAddress: trace.headerFrom, Subject: decodeEncodedWords(trace.subject), Insights },
          EmailTags: Object.entries(trace.metadata ?? {}).map(([Name, Value]) => ({ Name, Value })),
        },
        {},
      )
    },
  }),
)
