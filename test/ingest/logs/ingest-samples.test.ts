/** Every sample of a webhook or log gives the events of its expectation. */
import { readFile } from 'node:fs/promises'
import test from '#test'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { readActivityEnvelope } from '#ingest/mailenable/mailenable-activity.ts'
import { readBounceEnvelope } from '#ingest/mailenable/mailenable-bounces.ts'
import { readHealthcheck } from '#ingest/mailenable/mailenable-envelope.ts'
import { readStalwartWebhook, type StalwartReading } from '#ingest/logs/stalwart/stalwart.ts'
import { keysOf, readable, readWholeLog } from './log-reading.ts'
import { column, columns } from '../../support/column.ts'

const sample = (name: string): Promise<Buffer> => readFile(new URL(`../../fixtures/ingest-samples/${name}`, import.meta.url))

type Expected = Readonly<Record<string, unknown>>
const expected = JSON.parse((await sample('expected.json')).toString()) as Readonly<Record<string, readonly Expected[]>>

/** Returns an event with the field names of `expected.json`. */
function inWords({ type, clues, ...event }: FeedbackEvent, domains: readonly string[] = []): Expected {
  return {
    event: type,
    recipient: event.recipient,
    original_recipient: event.originalRecipient,
    status: event.status,
    smtp_code: event.smtpCode,
    remote_mta: event.remoteMta,
    source_ip: event.remoteIp,
    verp: clues.returnPaths[0]?.split('@')[0],
    queue_id: clues.queueIds.at(-1),
    domain: domains[0],
  }
}

/** The facts about the event in an expectation. The other fields concern the line or the reader. */
const said = ({ note: _, metric: __, line: ___, duplicate_of: ____, ...facts }: Expected): Expected => facts

const only = (facts: Expected, wanted: Expected): Expected =>
  Object.fromEntries(Object.keys(said(wanted)).map((name) => [name, facts[name]]))

test("samples: Stalwart's webhook gives the expected events", async (t) => {
  const { events, rejected, ignored } = readable<StalwartReading>(readStalwartWebhook(await sample('stalwart-webhook.json')))
  const wanted = expected['stalwart-webhook.json'] ?? []
  t.deepEqual(
    events.map(({ index, event, domains }) => only(inWords(event, domains), wanted[index] ?? {})),
    wanted.filter(({ event }) => event !== 'ignored').map(said),
  )
  t.deepEqual([rejected.length, ignored], [0, wanted.filter(({ event }) => event === 'ignored').length])
})

test('samples: a repeated webhook batch with new IDs has the same keys', async (t) => {
  const [first, again, one] = await Promise.all(
    ['stalwart-webhook.json', 'stalwart-webhook-retry.json', 'stalwart-single-event.json'].map(async (name) =>
      readable<StalwartReading>(readStalwartWebhook(await sample(name))),
    ),
  )
  t.deepEqual(keysOf(again?.events ?? []), keysOf(first?.events ?? []))
  t.is(new Set(keysOf(first?.events ?? [])).size, 6)
  t.deepEqual(keysOf(one?.events ?? []), [first?.events[0]?.event.key ?? ''])
})

test("samples: Stalwart's log gives the expected events with the webhook's keys", async (t) => {
  const { events, rejected, ignored, lines } = await readWholeLog('stalwart', await sample('stalwart-log.jsonl'))
  const wanted = expected['stalwart-log.jsonl'] ?? []
  const of = (...kinds: readonly string[]) => wanted.filter(({ event }) => kinds.includes(event as string))
  t.deepEqual(
    events.map(({ line, event }) => ({ line, ...only(inWords(event), wanted[line - 1] ?? {}) })),
    of('bounced', 'delivered').map(({ line, ...facts }) => ({ line, ...said(facts) })),
  )
  t.deepEqual(
    column(rejected, 'line'),
    of('rejected_line').map(({ line }) => line),
  )
  t.deepEqual([ignored, lines], [of('ignored').length, 7])
  const { events: told } = readable<StalwartReading>(readStalwartWebhook(await sample('stalwart-webhook.json')))
  t.deepEqual(
    column(events.slice(0, 2), 'event'),
    told.slice(0, 2).map(({ event }) => event),
  )
})

test("samples: MailEnable's bounce envelope gives the expected events", async (t) => {
  const { entries, invalid, agent } = readable(readBounceEnvelope(await sample('mailenable-bounce-envelope.json'), 'bsc_1'))
  const { no_mapping: wanted } = expected['mailenable-bounce-envelope.json'] as unknown as { readonly no_mapping: readonly Expected[] }
  t.deepEqual(
    entries.map(({ event }, i) => only(inWords(event), wanted[i] ?? {})),
    wanted.map(said),
  )
  t.deepEqual(columns(entries, 'postoffice', 'eventId', 'notice'), [
    ['example.com', 'me-9a0f6d0be2cbb1e7', null],
    ['Customer-B', 'me-77b1c07f1f0f4f21', null],
  ])
  t.deepEqual([invalid, agent], [[], { name: 'mailenable-agent', version: '1.0.0', hostname: 'MAIL01' }])
})

test("samples: reads MailEnable's health check", async (t) => {
  const { nonce, agent } = readable(readHealthcheck(await sample('mailenable-healthcheck.json')))
  t.deepEqual([nonce, agent.hostname], ['5f1c0e6f0e9b4c2d', 'MAIL01'])
})

test("samples: MailEnable's log gives one delivery and its refusals, no submission", async (t) => {
  const envelope = readable(readActivityEnvelope(await sample('mailenable-activity-envelope.json'), 'bsc_1'))
  const { deliveries, refusals, withheld } = envelope.read(new Map())
  t.deepEqual([envelope.acceptedLines, envelope.rejected, envelope.cursorEnd, withheld], [14, [], 2252, 0])
  const { event, syntheticMessageId, subject, index } = deliveries[0] ?? t.fail()
  t.deepEqual(only(inWords(event), { event: 1, recipient: 1, verp: 1 }), {
    event: 'delivered',
    recipient: 'somebody@example.net',
    verp: 'b1mzxw6ytb0j3tqnjv8k2d',
  })
  t.deepEqual([deliveries.length, index, subject, event.occurredAt], [1, 9, 'Order 123', Date.parse('2026-08-21T12:15:01+02:00')])
  t.regex(syntheticMessageId, /^<[0-9a-f]{32}@activity\.mailenable\.invalid>$/)
  const counted = (codeClass: number) => refusals.filter((one) => one.codeClass === codeClass).length
  const [, wanted] = expected['mailenable-activity-envelope.json'] ?? []
  t.deepEqual([counted(5), counted(4)], [wanted?.['count_5xx'], wanted?.['count_4xx']])
  const again = readable(readActivityEnvelope(await sample('mailenable-activity-envelope.json'), 'bsc_1')).read(new Map())
  t.deepEqual(keysOf(again.deliveries), keysOf(deliveries))
  t.deepEqual(again.refusals, refusals)
  t.false(JSON.stringify([deliveries, refusals]).includes('sales@'))
})

test("samples: Postfix's log gives the expected events with sender and Message-ID", async (t) => {
  const { events, rejected } = await readWholeLog('postfix', await sample('postfix-mail.log'))
  const wanted = expected['postfix-mail.log'] ?? []
  const [expired, ...told] = wanted.toReversed()
  t.deepEqual(
    events.slice(0, -1).map(({ event }, i) => only(inWords(event), wanted[i] ?? {})),
    told.toReversed().map(said),
  )
  const last = events.at(-1)?.event
  t.deepEqual(
    [last?.type, last?.recipient, last?.originalRecipient, last?.status, last?.action, last?.clues.queueIds],
    ['bounced', 'busy@example.org', 'alias@example.org', '4.4.7', 'failed', [expired?.['queue_id']]],
  )
  t.deepEqual(
    events.map(({ event: { clues } }) => `${clues.returnPaths.join()} ${clues.messageIds.join()}`),
    [
      ...['d 123', 'e 124', 'f 125', 'f 125', 'e 124'].map(
        (tail) => `b1mzxw6ytb0j3tqnjv8k2${tail.slice(0, 1)}@bounce.example.com <order-${tail.slice(2)}@example.com>`,
      ),
    ],
  )
  t.deepEqual(rejected, [])
})
