/** MailEnable's bounce envelope beyond the sample: required fields, generated IDs, and notices for parsing. */
import test from '#test'
import type { FeedbackEvent, ReportReading } from '#core/feedback/event.ts'
import { entryEvents, readBounceEnvelope } from '#ingest/mailenable/mailenable-bounces.ts'
import { readHealthcheck } from '#ingest/mailenable/mailenable-envelope.ts'
import { readable } from '../logs/log-reading.ts'
import { column, columns } from '../../support/column.ts'

const bounce = { type: 'bounce', postoffice: 'example.com', recipient: 'ada@example.net', diagnostic: '550 5.1.1 no' }
const body = (value: unknown) => Buffer.from(JSON.stringify(value))
const read = (events: readonly unknown[], source = 'bsc_1') => readable(readBounceEnvelope(body({ version: 1, events }), source))
const entry = (changes: object, source?: string) => read([{ ...bounce, ...changes }], source).entries[0]

test('bounces: a single event equals an envelope with one event', (t) => {
  t.deepEqual(readable(readBounceEnvelope(body(bounce), 'bsc_1')).entries, read([bounce]).entries)
  t.deepEqual(readable(readBounceEnvelope(body({ version: 1, ...bounce }), 'bsc_1')).entries, read([bounce]).entries)
})

test('bounces: ID and key depend on the event and the source', (t) => {
  t.is(entry({})?.eventId, entry({})?.eventId)
  t.regex(entry({})?.eventId ?? '', /^[0-9a-f]{32}$/)
  const changes = [{ recipient: 'b@x.example' }, { message_file: 'A.MAI' }, { occurred_at: '2026-08-21T10:15:00Z' }, { diagnostic: 'x' }]
  const all = [
    entry({}),
    ...changes.map((change) => entry(change)),
    entry({}, 'bsc_2'),
    entry({ event_id: 'me-1' }),
    entry({ event_id: 'me-1' }, 'bsc_2'),
  ]
  t.is(new Set(all.map((one) => one?.event.key)).size, all.length)
  t.is(entry({ event_id: 'me-1' })?.event.key, entry({ event_id: 'me-1', diagnostic: 'other' })?.event.key)
  const notices = ['aGVsbG8=', 'd29ybGQ='].map((raw_ndr) => read([{ postoffice: 'p', raw_ndr }]).entries[0]?.eventId)
  t.not(notices[0], notices[1])
})

test('bounces: rejects an invalid event by index and field, and reads the others', (t) => {
  const wrong: readonly (readonly [unknown, string])[] = [
    [null, 'must be an object'],
    [[], 'must be an object'],
    [{ ...bounce, postoffice: ' ' }, 'postoffice: is required'],
    [{ ...bounce, recipient: undefined }, 'recipient: is required if raw_ndr is missing'],
    [{ ...bounce, recipient: 'nobody' }, 'recipient: must be an e-mail address'],
    [{ ...bounce, type: 'rumour' }, 'type: must be one of bounce, delay, complaint'],
    [{ ...bounce, occurred_at: '2026-08-21T12:15:03' }, 'occurred_at: must be a time with its offset, such as 2026-08-21T12:15:03+02:00'],
    [{ ...bounce, status: '5' }, 'status: must be an enhanced status code such as 5.1.1'],
    [{ ...bounce, smtp_code: '550' }, 'smtp_code: must be a whole number from 200 to 599'],
    [{ postoffice: 'p', raw_ndr: '!' }, 'raw_ndr: must be base64'],
    [{ ...bounce, event_id: 'x'.repeat(256) }, 'event_id: must be text of at most 255 characters'],
  ]
  const { entries, invalid } = read([...wrong.map(([event]) => event), bounce])
  t.deepEqual(
    columns(invalid, 'index', 'reason'),
    wrong.map(([, reason], index) => [index, reason]),
  )
  t.deepEqual(column(entries, 'index'), [wrong.length])
})

test('bounces: refuses an invalid or oversized envelope', (t) => {
  const problem = (value: unknown) => {
    const reading = readBounceEnvelope(body(value), 'bsc_1')
    return 'problems' in reading ? `${reading.problems[0]?.path ?? ''} ${reading.problems[0]?.message ?? ''}` : ''
  }
  t.is(problem([]), 'body must be a JSON object')
  t.is(problem({}), 'events must be a list of events')
  t.is(problem({ version: 2, events: [] }), 'version must be 1')
  t.is(problem({ events: Array.from({ length: 501 }, () => bounce) }), 'events must hold at most 500 events')
  t.is(problem({ events: Array.from({ length: 500 }, () => bounce) }), '')
  t.true('problems' in readHealthcheck(Buffer.from('{')))
  t.true('problems' in readHealthcheck(body({ nonce: 5 })))
  t.deepEqual(readHealthcheck(body({ sent_at: '2026-08-21T10:15:30Z' })), {
    agent: { name: null, version: null, hostname: null },
    nonce: null,
    sentAt: Date.parse('2026-08-21T10:15:30Z'),
  })
})

test('bounces: converts delays, complaints, internal addresses and derived codes', (t) => {
  t.deepEqual([entry({ type: 'delay' })?.event.type, entry({ type: 'delay' })?.event.action], ['deferred', 'delayed'])
  t.is(entry({ type: undefined, action: 'delayed' })?.event.type, 'deferred')
  t.is(entry({ type: undefined })?.event.type, 'bounced')
  t.deepEqual([entry({ type: 'complaint' })?.event.type, entry({ type: 'complaint' })?.event.feedbackType], ['complained', 'abuse'])
  t.is(entry({ recipient: '[SMTP:ada@example.net]' })?.event.recipient, 'ada@example.net')
  t.deepEqual(entry({ envelope_from: '<>' })?.event.clues.returnPaths, [])
  t.deepEqual(
    [entry({ diagnostic: '452 4.2.2 full' })?.event.smtpCode, entry({ diagnostic: '452 4.2.2 full' })?.event.status],
    [452, '4.2.2'],
  )
  t.deepEqual([entry({ diagnostic: 'no words' })?.event.smtpCode, entry({ diagnostic: 'no words' })?.event.status], [null, null])
  t.is(entry({ smtp_code: 550, diagnostic: 'no words' })?.event.status, '5.0.0')
})

const report = (recipient: string | null): FeedbackEvent => ({
  ...(entry({})?.event as FeedbackEvent),
  format: 'dsn',
  recipient,
  diagnostic: 'from the notice',
  status: '5.2.2',
  isStructured: false,
  clues: {
    returnPaths: ['b2@bounce.example'],
    references: ['ref'],
    envelopeIds: [],
    messageIds: [],
    queueIds: [],
    originalTo: ['ada@example.net'],
  },
})
const reading = (...recipients: readonly (string | null)[]): ReportReading => ({ kind: 'dsn', events: recipients.map(report) })

test('bounces: returns a notice for parsing and completes its events by the fields', (t) => {
  const raw = Buffer.from('From: postmaster\r\n\r\nMailEnable: Message Delivery Failure.')
  const fields = { event_id: 'me-1', postoffice: 'p', raw_ndr: raw.toString('base64'), envelope_from: 'b1@bounce.example', smtp_code: 554 }
  const [given] = read([fields]).entries
  if (!given) return t.fail()
  t.deepEqual(Buffer.from(given.notice ?? []), raw)
  const events = entryEvents(given, reading('x@y.example', 'z@y.example'))
  t.deepEqual(
    events.map(({ format, recipient, smtpCode, status, diagnostic, isStructured }) => [
      format,
      recipient,
      smtpCode,
      status,
      diagnostic,
      isStructured,
    ]),
    ['x@y.example', 'z@y.example'].map((recipient) => ['mailenable', recipient, 554, '5.2.2', 'from the notice', false]),
  )
  t.deepEqual(events[0]?.clues.returnPaths, ['b1@bounce.example', 'b2@bounce.example'])
  t.deepEqual(events[0]?.clues.references, ['ref'])
  t.is(new Set(events.map(({ key }) => key)).size, 2)
  t.deepEqual(entryEvents(given, reading('x@y.example'))[0]?.key, events[0]?.key)
  t.deepEqual(entryEvents(given, reading()), [given.event])
})

test('bounces: ignores the notice if the fields name a recipient', (t) => {
  t.is(entry({ raw_ndr: 'aGVsbG8=' })?.notice, null)
})
