/** Hostile logs and webhooks: nothing throws, nothing hangs, and nothing grows beyond its limits. */
import { readFileSync } from 'node:fs'
import test from '#test'
import type { FeedbackEvent } from '#core/feedback/event.ts'
import { logSources, readLog } from '#ingest/logs/log.ts'
import { readActivityEnvelope } from '#ingest/mailenable/mailenable-activity.ts'
import { readBounceEnvelope } from '#ingest/mailenable/mailenable-bounces.ts'
import { readHealthcheck } from '#ingest/mailenable/mailenable-envelope.ts'
import { eximLog } from '#ingest/logs/exim-log.ts'
import { postfixLog } from '#ingest/logs/postfix-log.ts'
import { readStalwartGroup } from '#ingest/logs/stalwart/stalwart-log.ts'
import { readStalwartWebhook } from '#ingest/logs/stalwart/stalwart.ts'
import { growsLinearly } from '../../support/measure/growth.ts'
import { Seeded } from '../../support/seeded.ts'
import { rcptTo } from '../mailenable/activity-lines.ts'
import { readWholeLog } from './log-reading.ts'
import { inPieces, listOf } from '../rows/pieces.ts'

const sample = (name: string): Buffer => readFileSync(new URL(`../../fixtures/ingest-samples/${name}`, import.meta.url))

/** All events that the readers of whole bodies return for these octets. */
function eventsOf(body: Uint8Array): readonly FeedbackEvent[] {
  const webhook = readStalwartWebhook(body)
  const bounces = readBounceEnvelope(body, 'bsc_1')
  const activity = readActivityEnvelope(body, 'bsc_1')
  readHealthcheck(body)
  return [
    ...('events' in webhook ? webhook.events.map(({ event }) => event) : []),
    ...('entries' in bounces ? bounces.entries.map(({ event }) => event) : []),
    ...('read' in activity ? activity.read(new Map()).deliveries.map(({ event }) => event) : []),
  ]
}

function isSound({ key, recipient, diagnostic, status, smtpCode, occurredAt, clues }: FeedbackEvent): boolean {
  return (
    /^[0-9a-f]{64}$/.test(key) &&
    (recipient === null || (recipient.includes('@') && recipient.length <= 320 && !/\s/u.test(recipient))) &&
    (diagnostic === null || (diagnostic.length <= 2000 && !/\p{Cc}/u.test(diagnostic) && diagnostic.isWellFormed())) &&
    (status === null || /^[245]\.\d{1,3}\.\d{1,3}$/.test(status)) &&
    (smtpCode === null || (smtpCode >= 200 && smtpCode <= 599)) &&
    (occurredAt === null || Number.isSafeInteger(occurredAt)) &&
    Object.values(clues).every((list: readonly string[]) => list.every((clue) => clue.length <= 998))
  )
}

const bodies = [
  'stalwart-webhook.json',
  'mailenable-bounce-envelope.json',
  'mailenable-activity-envelope.json',
  'mailenable-healthcheck.json',
]
const logs = ['stalwart-log.jsonl', 'postfix-mail.log']

/** Truncates the octets, changes some of them, or both. */
function spoiled(octets: Buffer, seeded: Seeded): Buffer {
  const copy = Buffer.from(octets.subarray(0, seeded.chance(0.5) ? octets.length : seeded.between(0, octets.length)))
  const flips = seeded.between(0, 4)
  for (let i = 0; i < flips && copy.length > 0; i++) copy[seeded.between(0, copy.length - 1)] = seeded.between(0, 255)
  return copy
}

test('bodies: truncated or damaged input never throws and gives valid events only', (t) => {
  const seeded = new Seeded('spoiled bodies')
  for (const name of bodies) {
    const octets = sample(name)
    for (let round = 0; round < 600; round++) {
      const body = spoiled(octets, seeded)
      t.true(eventsOf(body).every(isSound), body.toString('latin1'))
    }
  }
})

test('logs: truncated or damaged input never throws and keeps the other lines', async (t) => {
  const seeded = new Seeded('spoiled logs')
  for (const name of logs) {
    const octets = sample(name)
    for (let round = 0; round < 300; round++) {
      const log = spoiled(octets, seeded)
      for (const source of logSources) {
        const { events, lines } = await readWholeLog(source, log)
        t.true(events.every(({ event, line }) => isSound(event) && line >= 1 && line <= lines))
      }
    }
  }
})

test('events: every value in every field is accepted or rejected, never thrown', (t) => {
  const values: readonly unknown[] = [
    null,
    true,
    0,
    -1,
    1e308,
    '',
    '\0',
    'a@b',
    [],
    {},
    [[[]]],
    { toString: null },
    '__proto__',
    '\ud800',
    'x'.repeat(100_000),
  ]
  for (const [name, text] of bodies.map((file) => [file, sample(file).toString()] as const)) {
    const fields = new Set([...text.matchAll(/"([A-Za-z_]+)":/g)].map(([, field = '']) => field))
    for (const field of fields)
      for (const value of values) {
        const body = JSON.stringify(JSON.parse(text, (key, given: unknown) => (key === field ? value : given)))
        t.true(eventsOf(Buffer.from(body)).every(isSound), `${name} ${field} ${body.slice(0, 200)}`)
      }
  }
})

test('events: keys such as __proto__ have no effect', async (t) => {
  const evil =
    '"__proto__":{"to":"evil@example.org","type":"delivery.delivered","polluted":1},"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1'
  const text = `{${evil},"type":"delivery.delivered","createdAt":"x","data":{${evil},"code":250}}`
  const reading = readStalwartWebhook(Buffer.from(text))
  t.is('events' in reading ? reading.events[0]?.event.recipient : '', null)
  const { rejected } = await readWholeLog('postfix', `{${evil}}\n{"__proto__":{"message":"x"}}`)
  t.is(rejected.length, 2)
  eventsOf(Buffer.from(`{${evil},"version":1,"time_zone":"UTC","lines":[{"__proto__":{"line":"x"}}],"events":[{${evil}}]}`))
  t.is(({} as { polluted?: unknown }).polluted, undefined)
  t.deepEqual(readBounceEnvelope(Buffer.from('{"__proto__":{"events":[]}}'), 's'), {
    problems: [{ path: 'events', message: 'must be a list of events' }],
  })
})

test('JSON: refuses input beyond the limits without parsing it', async (t) => {
  const depth = 1_000_000
  for (const nest of [`${'['.repeat(depth)}${']'.repeat(depth)}`, `${'{"a":'.repeat(depth / 2)}1${'}'.repeat(depth / 2)}`]) {
    const body = Buffer.from(`{"type":"delivery.dsn-perm-fail","createdAt":"x","data":{"to":"a@b.example","details":${nest}}}`)
    t.is(eventsOf(body).length, 0)
    t.true('problems' in readStalwartWebhook(body))
    t.true(eventsOf(Buffer.from(nest)).every(isSound))
    t.is((await readWholeLog('stalwart', Buffer.from(nest.slice(0, 1_000_000)))).events.length, 0)
  }
  const refused = (body: string): boolean => 'problems' in readStalwartWebhook(Buffer.from(body))
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const members = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k\\":{${String(i)}":1`).join()}}`
  t.deepEqual([nested(64), nested(65)].map(refused), [false, true])
  t.deepEqual([members(100_000), members(100_001)].map(refused), [false, true])
  t.deepEqual(
    [9998, 9999, 10_000].map((count) => refused(`[${'{},'.repeat(count)}{}]`)),
    [false, false, true],
  )
  const long = `{"message":"${'[{'.repeat(100_000)}\\"${':'.repeat(100_000)}"}`
  t.deepEqual((await readWholeLog('postfix', long)).rejected, [{ line: 1, reason: 'contains no line of syslog or Postfix' }])
  const { rejected } = await readWholeLog('postfix', `{"a":${nested(3000)}}`)
  t.deepEqual(rejected, [{ line: 1, reason: 'exceeds the limits on nesting or size' }])
})

test('logs: rejects a line over 1 MiB and reads the other lines', async (t) => {
  const [first = ''] = sample('stalwart-log.jsonl').toString().split('\n')
  for (const long of ['x'.repeat(1_048_577), `{"message":"${'y'.repeat(3_000_000)}"}`, '\0'.repeat(2_000_000)]) {
    const { events, rejected, lines } = await readWholeLog('stalwart', `${first}\n${long}\r\n${first}`)
    t.deepEqual([events.map(({ line }) => line), lines], [[1, 3], 3])
    t.deepEqual(rejected, [{ line: 2, reason: 'is longer than 1,048,576 characters' }])
  }
  const { rejected } = await readWholeLog('postfix', `${'x'.repeat(1_048_576)}\n\0\0\0\n\ufeff`)
  t.deepEqual(
    rejected.map(({ line, reason }) => `${String(line)} ${reason}`),
    ['1 is not a line of syslog or Postfix', '2 is not a line of syslog or Postfix'],
  )
})

test('logs: groups stay small for many lines, long lines and many records', async (t) => {
  const sizes = async (log: string) => (await listOf(readLog('postfix', inPieces(log)))).map(({ lines }) => lines)
  t.deepEqual(await sizes('\n'.repeat(2500)), [1000, 1000, 500])
  t.deepEqual(await sizes(`${'x'.repeat(150_000)}\n`.repeat(5)), [2, 2, 1])
  t.deepEqual(await sizes('a'), [1])
  t.deepEqual(await sizes(''), [])
  const { rejected } = await readWholeLog('postfix', `[${'{},'.repeat(1000)}{}]`)
  t.deepEqual(rejected, [{ line: 1, reason: 'contains more than 1000 records' }])
})

test('logs: the size of input pieces does not affect the lines', async (t) => {
  const seeded = new Seeded('pieces')
  for (const [i, name] of logs.entries()) {
    const source = logSources[i] ?? 'stalwart'
    const log = Buffer.from(sample(name).toString().replaceAll('User unknown', 'Empfänger 💌 unbekannt').replaceAll('\n', '\r\n'))
    t.deepEqual(await readWholeLog(source, log, new Map(), seeded), await readWholeLog(source, log))
  }
})

const readers = [{ readGroup: readStalwartGroup }, postfixLog, eximLog]
const exim = '2026-08-21 12:15:03 1tHx5r-000000001AB-2cDe'
const grows: readonly (readonly [string, (size: number) => string])[] = [
  ['backslashes', (size) => `2026-08-21T10:15:00Z INFO x (delivery.delivered) from = "${'\\'.repeat(size)}"`],
  ['quotes', (size) => `2026-08-21T10:15:00Z INFO x (delivery.delivered) from = "${'"'.repeat(size)}`],
  ['escaped quotes before keys', (size) => `2026-08-21T10:15:00Z INFO x (delivery.delivered) from = "${'\\", a = '.repeat(size / 8)}`],
  ['keys', (size) => `2026-08-21T10:15:00Z INFO x (delivery.delivered) ${'a = 1, '.repeat(size / 7)}`],
  ['brackets', (size) => `<1>1 - - - - - ${'[a b="'.repeat(size / 6)}`],
  ['elements', (size) => `<1>1 - - - - - ${'[a]'.repeat(size / 3)}`],
  ['fields', (size) => `4cYt3r0AAAz9sX: to=<a@b>, ${'relay='.repeat(size / 6)}`],
  ['unclosed fields', (size) => `4cYt3r0AAAz9sX: to=<a@b>, ${'a=<'.repeat(size / 3)}, status=sent (x)`],
  ['digits', (size) => `4cYt3r0AAAz9sX: to=<a@b>, relay=x, status=bounced (${'550-5.1.'.repeat(size / 8)})`],
  ['queue ids', (size) => `{"a":[${'"queueId"                 ,'.repeat(size / 27)}1]}`],
  ['colors', (size) => '\u001b['.repeat(size / 2)],
  ['blanks', (size) => ' '.repeat(size)],
  ['parents in Exim', (size) => `${exim} ** a ${'<b> '.repeat(size / 4)}`],
  ['open parents in Exim', (size) => `${exim} ** a${' <'.repeat(size / 2)}`],
  ['quotes in Exim', (size) => `${exim} => ${'"'.repeat(size)}`],
  ['backslashes in Exim', (size) => `${exim} => "${'\\\\'.repeat(size)}`],
  ['colons in Exim', (size) => `${exim} == a@b${': '.repeat(size / 2)}`],
  ['confirmations in Exim', (size) => `${exim} => a@b${' C="'.repeat(size / 4)}`],
  ['angle brackets', (size) => rcptTo('a@b').replace('<a@b>', '<'.repeat(size))],
]
for (const [name, line] of grows)
  test(`logs: linear time for ${name}`, (t) => {
    const read = (size: number): void => {
      const text = line(size)
      for (const reader of readers) reader.readGroup({ first: 1, lines: [text] }).read(new Map())
      eventsOf(
        Buffer.from(
          JSON.stringify({
            version: 1,
            time_zone: 'UTC',
            lines: [text],
            events: [{ type: 'delivery.delivered', data: { details: text } }],
          }),
        ),
      )
      eventsOf(Buffer.from(text))
    }
    t.true(growsLinearly(read, 200_000))
  })
