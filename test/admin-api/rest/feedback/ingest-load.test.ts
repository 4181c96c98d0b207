/** The most expensive logs and webhooks: the event loop is never blocked for long, and requests above a limit are refused. */
import { gzipSync } from 'node:zlib'
import test from '#test'
import { heldLoop, type HeldLoop } from '../../../support/measure/held-loop.ts'
import { addSource, postSigned, type Posted, type Source } from '../fixture/ingest-posts.ts'
import { rcptTo } from '../../../ingest/mailenable/activity-lines.ts'
import { startFixture, type Fixture } from '../fixture/rest-fixture.ts'

const mebibyte = 1024 * 1024
/** Maximum time for which one request may block the event loop, in milliseconds of processor time. */
const heldMaxMs = 100
const gzip = { 'content-encoding': 'gzip' }

/** Repeats a text up to the given number of octets. */
const filled = (text: string, bytes: number): Buffer => Buffer.from(text.repeat(Math.floor(bytes / text.length)))

const logPath = (provider: string): string => `/v1/ingest/logs?source=${provider}`

interface Cost extends HeldLoop {
  readonly source: Source
  readonly answer: Posted
}

/**
 * Returns the cost of a request to a new source. A value above the limit is measured again, at most twice: the first request of a kind
 * includes compilation, and any request can include a garbage collection.
 */
async function cost(
  fixture: Fixture,
  provider: string,
  path: string,
  body: Buffer,
  { headers = {}, totalMaxMs = 1000 } = {},
): Promise<Cost> {
  for (let tries = 1; ; tries++) {
    const source = await addSource(fixture, provider)
    const answers: Posted[] = []
    const held = await heldLoop(async () => answers.push(await postSigned(fixture, path, source, body, headers)))
    const [answer] = answers
    if (!answer) throw new Error('no answer')
    if (tries === 3 || (held.longestMs < heldMaxMs && held.totalMs < totalMaxMs)) return { ...held, source, answer }
  }
}

const lines: Readonly<Record<string, string>> = {
  'short lines': 'xx\n',
  'lines of one JSON record': '{"message":"x"}\n',
  'lists of records': `[${'{},'.repeat(999)}{}]\n`,
  'lists nested in lists': `[${'['.repeat(4000)}${']'.repeat(4001)}\n`,
  'lists nested in lists of one long line': `[${'['.repeat(500_000)}${']'.repeat(500_001)}\n`,
  'many fields in a line': `{${Array.from({ length: 40_000 }, (_, i) => `"key${String(i)}":1,`).join('')}"message":"x"}\n`,
  'JSON text within JSON': `${JSON.stringify({ message: `{"a":${'['.repeat(250_000)}${']'.repeat(250_000)}}` })}\n`,
  'lines of an unknown program': 'Aug 21 10:15:00 mx sshd[1]: x\n',
  'deliveries of unknown messages':
    'Aug 21 10:15:00 mx postfix/smtp[2]: 4cYt3r0ABCz9sX: to=<a@b.example>, relay=x, dsn=2.0.0, status=sent (x)\n',
}

for (const [name, line] of Object.entries(lines))
  test.serial(`a batch of ${name}, plain and compressed, does not block other requests`, async (t) => {
    const fixture = await startFixture(t)
    for (const provider of ['postfix', 'stalwart']) {
      const body = filled(line, mebibyte - 1024)
      for (const way of ['plain', 'gzip']) {
        const sent = way === 'gzip' ? gzipSync(body) : body
        const { answer, longestMs, totalMs } = await cost(fixture, provider, logPath(provider), sent, {
          headers: way === 'gzip' ? gzip : {},
        })
        t.is(answer.status, 202)
        t.true(longestMs < heldMaxMs, `${provider} ${way}: blocked for ${String(longestMs)} ms`)
        t.true(totalMs < 1000, `${provider} ${way}: ${String(totalMs)} ms for a mebibyte`)
      }
    }
  })

const many = (count: number, make: (i: number) => string): string => Array.from({ length: count }, (_, i) => make(i)).join('')

const event = (i: number): object => ({
  type: 'delivery.delivered',
  createdAt: '2026-08-21T10:15:00Z',
  data: { to: `a${String(i)}@b.example`, code: 250, queueId: i },
})

const manyParts = Buffer.from(
  `Content-Type: multipart/report; boundary=b\r\n\r\n${'--b\r\nContent-Type: message/delivery-status\r\n\r\nx: y\r\n\r\n'.repeat(250)}`,
).toString('base64')

const bodies: readonly (readonly [name: string, path: string, provider: string, body: () => string, status: number])[] = [
  [
    'deliveries of many unknown messages',
    logPath('postfix'),
    'postfix',
    () =>
      many(
        9000,
        (i) => `postfix/smtp[2]: ${String(i).padStart(10, '0')}: to=<a@b.example>, relay=x, delay=1, dsn=2.0.0, status=sent (x)\n`,
      ),
    202,
  ],
  [
    'bounces of many unknown messages',
    logPath('postfix'),
    'postfix',
    () =>
      many(
        9000,
        (i) => `postfix/smtp[2]: ${String(i).padStart(10, '0')}: to=<a@b.example>, relay=x, delay=1, dsn=5.1.1, status=bounced (x)\n`,
      ),
    202,
  ],
  [
    'senders of many messages',
    logPath('postfix'),
    'postfix',
    () => many(16_000, (i) => `postfix/qmgr[1]: ${String(i).padStart(10, '0')}: from=<a@b.example>, size=1\n`),
    202,
  ],
  ['events of a webhook', '/v1/ingest/stalwart', 'stalwart', () => JSON.stringify(Array.from({ length: 7500 }, (_, i) => event(i))), 202],
  ['empty events of a webhook', '/v1/ingest/stalwart', 'stalwart', () => `[${'{},'.repeat(349_000)}{}]`, 400],
  ['lists in the body of a webhook', '/v1/ingest/stalwart', 'stalwart', () => `${'['.repeat(524_000)}${']'.repeat(524_000)}`, 400],
  ['fields in the body of a webhook', '/v1/ingest/stalwart', 'stalwart', () => `{${many(99_000, (i) => `"${String(i)}":1,`)}"x":1}`, 202],
  [
    'lines of an activity log',
    '/v1/ingest/activity-logs?source=mailenable',
    'mailenable',
    () =>
      JSON.stringify({
        version: 1,
        time_zone: 'UTC',
        lines: Array.from({ length: 5000 }, (_, i) =>
          rcptTo(`a${String(i)}@b.example`, '250 2.1.5 Ok', {
            file: `${String(i)}.MAI`,
            time: `${String((i % 12) + 1).padStart(2, '0')}/${String((i % 28) + 1).padStart(2, '0')}/${String(i % 100).padStart(2, '0')} 12:15:00`,
          }),
        ),
      }),
    202,
  ],
  [
    'lines of one character of an activity log',
    '/v1/ingest/activity-logs?source=mailenable',
    'mailenable',
    () => JSON.stringify({ version: 1, time_zone: 'UTC', lines: Array.from({ length: 260_000 }, () => 'x') }),
    400,
  ],
  [
    'bounces in prose',
    '/v1/ingest/mailenable',
    'mailenable',
    () =>
      JSON.stringify({
        version: 1,
        events: Array.from({ length: 500 }, (_, i) => ({
          event_id: String(i),
          type: 'bounce',
          recipient: `a${String(i)}@b.example`,
          occurred_at: '2026-08-21T12:15:03+02:00',
          diagnostic: '550 5.1.1 x'.repeat(160),
        })),
      }),
    202,
  ],
  [
    'notices with many parts',
    '/v1/ingest/mailenable',
    'mailenable',
    () =>
      JSON.stringify({
        version: 1,
        events: Array.from({ length: 50 }, (_, i) => ({
          event_id: String(i),
          type: 'bounce',
          postoffice: 'x',
          occurred_at: '2026-08-21T12:15:03+02:00',
          recipient: `a${String(i)}@b.example`,
          raw_ndr: manyParts,
        })),
      }),
    202,
  ],
]

for (const [name, path, provider, body, wanted] of bodies)
  test.serial(`a mebibyte of ${name} does not block other requests`, async (t) => {
    const fixture = await startFixture(t)
    const { answer, longestMs, totalMs } = await cost(fixture, provider, path, Buffer.from(body()))
    t.is(answer.status, wanted)
    t.true(longestMs < heldMaxMs, `blocked for ${String(longestMs)} ms`)
    t.true(totalMs < 1000, `${String(totalMs)} ms for a mebibyte`)
  })

test.serial('a small body that inflates to too many octets or lines is refused unread', async (t) => {
  const fixture = await startFixture(t)
  const bombs: readonly (readonly [Buffer, string])[] = [
    [Buffer.alloc(66 * mebibyte, 0x0a), 'max_lines'],
    [Buffer.alloc(66 * mebibyte, 'x'), 'max_bytes'],
    [Buffer.alloc(500_001, 0x0a), 'max_lines'],
  ]
  for (const [bomb, bound] of bombs) {
    const { answer, totalMs } = await cost(fixture, 'postfix', logPath('postfix'), gzipSync(bomb), { headers: gzip, totalMaxMs: 300 })
    t.is(answer.status, 413)
    t.true(bound in (answer.body['error'] as { details: object }).details)
    t.true(totalMs < 300, `${String(totalMs)} ms`)
  }
  const source = await addSource(fixture, 'postfix')
  t.is((await postSigned(fixture, logPath('postfix'), source, gzipSync(Buffer.alloc(500_000, 0x0a)), gzip)).status, 202)
})
