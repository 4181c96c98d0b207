/** Stalwart's events beyond the samples: keys, queue IDs, recipients, replies, and forged text lines. */
import test from '#test'
import { readStalwartWebhook } from '#ingest/logs/stalwart/stalwart.ts'
import { keysOf, readable, readWholeLog } from './log-reading.ts'
import { column } from '../../support/column.ts'

const data = { to: 'ada@example.net', hostname: 'mx.example.net', queueId: 7, from: 'b1@bounce.example.com', details: 'Connection failed' }
const event = (changes: object = {}, type = 'delivery.dsn-perm-fail') => ({
  id: '1',
  createdAt: '2026-08-21T10:15:00Z',
  type,
  data: { ...data, ...changes },
})

const read = (...events: readonly unknown[]) => readable(readStalwartWebhook(Buffer.from(JSON.stringify(events))))
const one = (changes: object, type?: string) => read(event(changes, type)).events[0]?.event

test('Stalwart: reads a plain list, and an invalid entry does not affect the others', (t) => {
  const { events, rejected, ignored } = read(event(), null, 5, { type: 'delivery.delivered' }, [], event({}, 'auth.success'), event({}))
  t.deepEqual(column(events, 'index'), [0, 6])
  t.deepEqual(
    rejected.map(({ index, reason }) => `${String(index)} ${reason}`),
    [
      '1 is not a Stalwart event: it has no type',
      '2 is not a Stalwart event: it has no type',
      '3 is not a Stalwart event: it has no data',
      '4 is not a Stalwart event: it has no type',
    ],
  )
  t.is(ignored, 1)
})

test('Stalwart: lists the first 1,000 rejected entries and counts the others', (t) => {
  const { rejected, rejectedMore, ignored } = readable(
    readStalwartWebhook(Buffer.from(JSON.stringify(Array.from({ length: 1500 }, () => 0)))),
  )
  t.deepEqual([rejected.length, rejectedMore, ignored], [1000, 500, 0])
})

test('Stalwart: refuses a body that is not a list of events', (t) => {
  for (const body of ['', 'x', '"x"', '12', 'null', '{"events":[}', '\ufeff['])
    t.true('problems' in readStalwartWebhook(Buffer.from(body)), body)
  t.deepEqual(readStalwartWebhook(Buffer.from([0x5b, 0xff, 0x5d])), { problems: [{ path: 'body', message: 'must be UTF-8 text' }] })
  t.deepEqual(readStalwartWebhook(Buffer.alloc(5 * 1024 * 1024 + 1, ' ')), {
    problems: [{ path: 'body', message: 'must be at most 5,242,880 octets long' }],
  })
  t.deepEqual(readable(readStalwartWebhook(Buffer.from('\ufeff[]'))).events, [])
})

test('Stalwart: a key depends exactly on the facts that identify an event', (t) => {
  const key = (changes: object, type?: string) => one(changes, type)?.key
  const base = key({})
  for (const same of [{ total: 9 }, { size: 1 }, { from: 'other@example.com' }, { queueId: '7' }, { nextRetry: 'x' }]) t.is(key(same), base)
  const different = [{ to: 'b@example.net' }, { hostname: 'mx2' }, { queueId: 8 }, { details: 'TLS error' }, { code: 550 }]
  t.is(new Set([base, ...different.map((change) => key(change)), key({}, 'delivery.delivered')]).size, different.length + 2)
  const later = read({ ...event(), createdAt: '2026-08-21T10:15:01Z' }).events[0]?.event.key
  t.not(later, base)
  t.is(read({ ...event(), createdAt: '2026-08-21T12:15:00.000+02:00' }).events[0]?.event.key, base)
  t.is(key({ details: { a: 1, b: [2] } }), key({ details: { b: [2], a: 1 } }))
  t.not(
    key({ to: null, domain: ['a.example'] }, 'incoming-report.abuse-report'),
    key({ to: null, domain: ['b.example'] }, 'incoming-report.abuse-report'),
  )
})

test('Stalwart: uses a time with a zone and ignores a time without', (t) => {
  const timeOf = (createdAt: string) =>
    readable(readStalwartWebhook(Buffer.from(JSON.stringify([{ type: 'delivery.delivered', createdAt, data: { to: 'a@b.example' } }]))))
      .events[0]?.event.occurredAt
  const at = Date.parse('2026-08-21T10:15:00Z')
  t.deepEqual(['2026-08-21T10:15:00Z', '2026-08-21T12:15:00+02:00', '2026-08-21T10:15:00', '2026', ''].map(timeOf), [
    at,
    at,
    null,
    null,
    null,
  ])
})

test('Stalwart: 64-bit queue IDs stay exact, in decimal and hexadecimal', (t) => {
  const body = `{"type":"delivery.delivered","createdAt":"","data":{"queueId" : 264519374110880001,"details":"a \\"queueId\\":12345678901234567 b"}}`
  const found = readable(readStalwartWebhook(Buffer.from(body))).events[0]?.event
  t.deepEqual(found?.clues.queueIds, [264519374110880001n.toString(16), '264519374110880001'])
  t.true(found?.diagnostic?.includes('"queueId":12345678901234567 b'))
  t.is(found?.occurredAt, null)
  for (const bad of ['x', -1, 1.5, 1e30, null, {}, [], true]) t.deepEqual(one({ queueId: bad })?.clues.queueIds, [], JSON.stringify(bad))
})

test('Stalwart: the recipient is a single address, or null for several', (t) => {
  const recipient = (to: unknown) => one({ to })?.recipient
  t.is(recipient(['ada@example.net']), 'ada@example.net')
  t.is(recipient('<ada@example.net>'), 'ada@example.net')
  for (const to of [['a@b.example', 'c@d.example'], [], null, 5, {}, 'nobody', 'a b@c.example', `${'x'.repeat(320)}@c.example`, 'a@b\0c'])
    t.is(recipient(to), null, JSON.stringify(to))
})

test('Stalwart: takes code and reply from the refusal, derives a missing status', (t) => {
  const quoted = (code: number, enhanced: string, message: string) =>
    `Unexpected response for RCPT TO:<a@b>: Code: ${String(code)}, Enhanced code: ${enhanced}, Message: ${message}`
  const cases: readonly (readonly [object, string, number | null, string | null, string | null])[] = [
    [{ details: quoted(550, '5.1.1', 'No such user') }, 'perm', 550, '5.1.1', '550 5.1.1 No such user'],
    [{ details: quoted(550, '0.0.0', 'No such user') }, 'perm', 550, '5.0.0', '550 No such user'],
    [{ details: quoted(550, '0.0.0', '#5.7.1 refused') }, 'perm', 550, '5.7.1', '550 #5.7.1 refused'],
    [{ details: quoted(554, '0.0.0', 'listed at a DNSBL') }, 'perm', 554, '5.7.1', '554 listed at a DNSBL'],
    [{ details: quoted(450, '4.2.0', 'wait') }, 'perm', 450, '4.2.0', '450 4.2.0 wait'],
    [{ details: 'User unknown', code: '550' }, 'perm', 550, '5.0.0', '550 User unknown'],
    [{ details: '2.0.0 Ok', code: 250 }, 'ok', 250, '2.0.0', '250 2.0.0 Ok'],
    [{ details: 'DNS lookup failed: no MX' }, 'perm', null, '5.4.4', 'DNS lookup failed: no MX'],
    [{ details: 'Connection failed: timeout' }, 'temp', null, '4.4.1', 'Connection failed: timeout'],
    [{ details: 'TLS error: bad certificate' }, 'temp', null, '4.7.5', 'TLS error: bad certificate'],
    [{ details: 'Rate limited' }, 'temp', null, '4.4.5', 'Rate limited'],
    [
      { details: { type: 'x', text: 'Unexpected response', data: { hostname: 'mx', code: 550, reason: '5.1.1 gone' } } },
      'perm',
      550,
      '5.1.1',
      'Unexpected response: mx: 550 5.1.1 gone',
    ],
    [{ details: ['one', 'two', 3] }, 'perm', null, '5.0.0', 'one; two'],
    [{ details: null }, 'perm', null, '5.0.0', null],
    [{ details: 'x\r\ny\u0000z' }, 'perm', null, '5.0.0', 'x y z'],
  ]
  const types = { perm: 'delivery.dsn-perm-fail', temp: 'delivery.dsn-temp-fail', ok: 'delivery.delivered' } as const
  for (const [changes, type, code, status, detail] of cases) {
    const found = one(changes, types[type as keyof typeof types])
    t.deepEqual([found?.smtpCode, found?.status], [code, status], JSON.stringify(changes))
    t.is(found?.diagnostic, detail)
  }
  t.is(one({ details: 'y'.repeat(9000) })?.diagnostic?.length, 2000)
})

test('Stalwart: accepted by another host means relayed, by a mailbox delivered', (t) => {
  t.is(one({}, 'delivery.delivered')?.action, 'relayed')
  t.is(one({ hostname: 'localhost' }, 'delivery.delivered')?.action, 'delivered')
  t.is(one({ hostname: undefined }, 'delivery.dsn-success')?.action, 'delivered')
})

test('Stalwart: complaints have a feedback type and domains, no recipient', (t) => {
  const { events } = read(
    ...['abuse', 'fraud', 'virus', 'other'].map((kind) => event({ domain: ['a.example', 5, ''] }, `incoming-report.${kind}-report`)),
  )
  t.deepEqual(
    events.map(({ event: { feedbackType, recipient }, domains }) => [feedbackType, recipient, domains]),
    ['abuse', 'fraud', 'virus', 'other'].map((kind) => [kind, null, ['a.example']]),
  )
  t.is(read(event({}, 'incoming-report.auth-failure-report'), event({}, 'incoming-report.dmarc-report')).ignored, 2)
})

const line = (fields: string, type = 'delivery.dsn-perm-fail') => `2026-08-21T10:15:00Z INFO Some words (${type}) ${fields}`
const textEvent = async (fields: string) => (await readWholeLog('stalwart', line(fields))).events[0]?.event

test("Stalwart: a text line has the webhook's key, also with colors and escapes", async (t) => {
  const fields = 'queueId = 7, from = "b1@bounce.example.com", to = ["x@y.example", "ada@example.net"], to = "ada@example.net"'
  const told = one({ details: 'He said "no"' })
  const plain = `${fields}, hostname = "mx.example.net", details = "He said "no"", total = 1`
  t.deepEqual(await textEvent(plain), told)
  t.deepEqual(await textEvent(plain.replace('"no"', '\\"no\\"')), told)
  const colored = `\u001b[37m2026-08-21T10:15:00Z\u001b[0m \u001b[33;1mWARN\u001b[0m \u001b[37;1mWords\u001b[0m (delivery.dsn-perm-fail) ${plain.replace('to =', '\u001b[36mto\u001b[0m =')}`
  t.deepEqual((await readWholeLog('stalwart', colored)).events[0]?.event, told)
})

test('Stalwart: addresses with brackets do not hide later fields', async (t) => {
  const found = await textEvent('to = ["a@[192.0.2.1]", "b@[192.0.2.2]"], size = 1, to = "c@[192.0.2.3]", hostname = "mx.example.net"')
  t.deepEqual([found?.recipient, found?.remoteMta], ['c@[192.0.2.3]', 'mx.example.net'])
})

test('Stalwart: an escaped quote does not end a value', async (t) => {
  const found = await textEvent('from = "a\\", to = \\"x@y.example", to = "ada@example.net", size = 1, queueId = 7')
  t.deepEqual([found?.recipient, found?.clues.queueIds.at(-1), found?.clues.returnPaths], ['ada@example.net', '7', []])
  const last = await textEvent('to = "ada@example.net", hostname = "a\\", to = \\"evil@example.org"')
  t.is(last?.recipient, 'ada@example.net')
})

test("Stalwart: a foreign server's reply cannot set fields of the event", async (t) => {
  const own = 'queueId = 7, from = "b1@bounce.example.com", to = "ada@example.net", hostname = "mx.example.net"'
  const lie = 'no", to = "victim@example.org", from = "b2@bounce.example.com", code = 250, details = "x'
  const found = await textEvent(`${own}, details = "${lie}", total = 1`)
  t.deepEqual([found?.recipient, found?.clues.returnPaths], ['ada@example.net', ['b1@bounce.example.com']])
  t.is(found?.diagnostic, lie)
})

test('Stalwart: ignores other events and rejects other text by line number', async (t) => {
  const log = [
    line('a = 1', 'smtp.ehlo'),
    '',
    '   ',
    'at some::function',
    line('', 'delivery.attempt-start'),
    '[1]',
    '{"message":5}',
    '{"log":"',
  ].join('\r\n')
  const { rejected, ignored, events } = await readWholeLog('stalwart', log)
  t.deepEqual(
    [events.length, ignored, rejected.map(({ line: number, reason }) => `${String(number)} ${reason}`)],
    [
      0,
      4,
      [
        '4 is not a line of a Stalwart log',
        '6 is not a line of a Stalwart log',
        '7 is neither an event nor a record with the field message, log, line or msg',
        '8 is not valid JSON',
      ],
    ],
  )
})

test('Stalwart: reads records of shippers (message, log, line, msg), lists and events', async (t) => {
  const text = line('to = "ada@example.net", hostname = "mx.example.net"')
  const other = line('to = "else@example.net"')
  const records = [
    { message: text, log: other },
    { log: `${text}\n`, line: other, stream: 'stdout' },
    { line: text, msg: other },
    { msg: text },
    { message: text, log: { file: { path: '/x' } }, '@timestamp': '2026-08-21T10:15:09Z' },
    { message: JSON.stringify(event()) },
    [{ message: text }, { message: text }],
    { events: [event(), event()] },
  ]
  const { events, rejected } = await readWholeLog('stalwart', records.map((record) => JSON.stringify(record)).join('\n'))
  t.deepEqual(
    events.map(({ event: { recipient }, line: number }) => `${String(number)} ${String(recipient)}`),
    [1, 2, 3, 4, 5, 6, 7, 7, 8, 8].map((number) => `${String(number)} ada@example.net`),
  )
  t.deepEqual(rejected, [])
  t.is(new Set(keysOf(events)).size, 2)
})
