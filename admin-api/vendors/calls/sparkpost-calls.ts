/** Calls of SparkPost’s clients: look-ups of sent mail. */
import * as z from 'zod'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import type { TraceDetails } from '#core/trace/timeline/trace-reader.ts'
import { Refusal } from '#core/refusals.ts'
import { answer } from '../../operation/answer.ts'
import { toWireTime } from '../../wire/fields/time.ts'
import { dialectCall, type DialectCall } from '../dialect.ts'
import { answeredId } from '../sent-mail.ts'
import { latestStatus, mailEvents, type MailEvent } from '../mail-events.ts'

/** Event types of SparkPost, for events that it has. Acceptance by a provider is not a delivery. */
const eventNames: Readonly<Partial<Record<MailEvent['type'], string>>> = {
  ...{ accepted: 'injection', deferred: 'delay', failed: 'bounce', delivered: 'delivery', bounced: 'out_of_band' },
  ...{ suppressed: 'policy_rejection', complained: 'spam_complaint', opened: 'open', clicked: 'click' },
}
const bounceClasses = { hard: '10', soft: '20', block: '50' } as const

const maxIds = 10
const ids = z
  .string()
  .max(2000)
  .transform((given) => given.split(','))
  .pipe(z.array(z.string()).max(maxIds, `at most ${String(maxIds)} ids`))
  .optional()
const listed = z
  .string()
  .max(2000)
  .transform((given) => new Set(given.toLowerCase().split(',')))
  .optional()

function eventsOf(details: TraceDetails) {
  const { trace } = details
  return mailEvents(details).flatMap((event) => {
    const type = eventNames[event.type]
    if (type === undefined) return []
    return [
      {
        ...{ type, event_id: `${trace.id}-${String(event.at)}-${type}`, timestamp: toWireTime(event.at), rcpt_to: event.recipient ?? '' },
        ...{
          transmission_id: answeredId(trace),
          message_id: trace.id,
          subject: decodeEncodedWords(trace.subject),
          friendly_from: trace.headerFrom,
        },
        ...{ msg_from: trace.mailFrom, rcpt_meta: trace.metadata ?? {}, rcpt_tags: trace.tags ?? [] },
        ...(event.reason !== undefined && { reason: event.reason, raw_reason: event.reason }),
        ...(event.bounce && { bounce_class: bounceClasses[event.bounce] }),
        ...(event.url !== undefined && { target_link_url: event.url }),
      },
    ]
  })
}

export const sparkpostCalls: readonly DialectCall[] = [
  ...['/api/v1/events/message', '/api/v1/message-events'].map((path, i) =>
    dialectCall({
      operationId: i === 0 ? 'listEventsBySparkPost' : 'listMessageEventsBySparkPost',
      method: 'GET',
      path,
      scope: 'api:read',
      query: z.looseObject({
        ...{ transmissions: ids, messages: ids, transmission_ids: ids, message_ids: ids, events: listed, recipients: listed },
      }),
      async handle(mail, { query }) {
        const asked = [query.transmissions, query.messages, query.transmission_ids, query.message_ids].flatMap((one) => one ?? [])
        if (asked.length === 0)
          throw new Refusal('validation_failed', 'Give the ids of transmissions or messages. To search all mail, use GET /v1/traces.')
        const found = []
        for (const id of new Set(asked)) found.push(...eventsOf(await mail.details(id)))
        const results = found
          .filter(({ type, rcpt_to: to }) => (query.events?.has(type) ?? true) && (query.recipients?.has(to.toLowerCase()) ?? true))
          .toSorted((a, b) => b.timestamp.localeCompare(a.timestamp))
        return answer({ results, total_count: results.length, links: {} }, {})
      },
    }),
  ),
  dialectCall({
    operationId: 'getTransmissionBySparkPost',
    method: 'GET',
    path: '/api/v1/transmissions/{id}',
    scope: 'api:read',
    params: z.strictObject({ id: z.string() }),
    async handle(mail, { params: { id } }) {
      const details = await mail.details(id)
      const { trace } = details
      const latest = latestStatus(details)
      const state = latest === 'scheduled' ? 'submitted' : latest === 'canceled' ? 'Canceled' : 'Success'
      const content = { from: trace.headerFrom, subject: decodeEncodedWords(trace.subject) }
      return answer(
        {
          results: {
            transmission: {
              ...{ id: trace.id, state, num_rcpts: trace.recipients.length, content, metadata: trace.metadata ?? {} },
              ...(trace.sendAt !== undefined && { options: { start_time: toWireTime(trace.sendAt) } }),
            },
          },
        },
        {},
      )
    },
  }),
]
