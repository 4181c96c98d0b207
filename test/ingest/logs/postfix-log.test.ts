/** Postfix beyond the sample: headers and records of shippers, the definition of a delivery, and joining by queue ID. */
import test from '#test'
import type { LogSession } from '#ingest/logs/log-group.ts'
import { Seeded } from '../../support/seeded.ts'
import { keysOf, readWholeLog } from './log-reading.ts'

const id = '4cYt3r0AAAz9sX'
const sender = 'b1@bounce.example.com'
const message = `${id}: to=<ada@example.net>, relay=mx.example.net[203.0.113.9]:25, conn_use=2, delay=1.2, delays=0.1/0.01/0.4/0.7, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as XYZ)`
const at = Date.parse('2026-08-21T10:15:03.120Z')

const read = (...lines: readonly unknown[]) =>
  readWholeLog('postfix', lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
const eventOf = async (line: unknown) => (await read(line)).events[0]?.event

/** The same line in the form of each shipper, with the host and time that are then known. */
const file = `Aug 21 12:15:03 mx1 postfix/smtp[12]: ${message}`
const exact = `2026-08-21T12:15:03.120+02:00 mx1 postfix/smtp[12]: ${message}`
const shippings: readonly (readonly [string, unknown, string | null, number | null])[] = [
  ['a file', file, 'mx1', null],
  ['one digit of a day', file.replace('21', ' 1'), 'mx1', null],
  ['a priority', `<22>${file}`, 'mx1', null],
  ['RFC 3339', exact, 'mx1', at],
  ['RFC 5424', `<22>1 2026-08-21T10:15:03.120Z mx1 postfix/smtp 12 - - ${message}`, 'mx1', at],
  ['RFC 5424 with data', `<22>1 2026-08-21T10:15:03.120Z mx1 postfix/smtp 12 - [a b="c\\"]"][d] \ufeff${message}`, 'mx1', at],
  ['a container', `postfix/smtp[12]: ${message}`, null, null],
  ['no header', message, null, null],
  [
    'journald',
    { MESSAGE: message, SYSLOG_IDENTIFIER: 'postfix/smtp', _HOSTNAME: 'mx1', __REALTIME_TIMESTAMP: '1787307303120000' },
    'mx1',
    at,
  ],
  ['journald octets', { MESSAGE: [...Buffer.from(message)], SYSLOG_IDENTIFIER: 'postfix/smtp', _HOSTNAME: 'mx1' }, 'mx1', null],
  [
    'Filebeat',
    { '@timestamp': '2026-08-21T10:15:09Z', message: exact, host: { name: 'mx9' }, log: { file: { path: '/var/log/mail.log' } } },
    'mx1',
    at,
  ],
  [
    'Filebeat journald',
    { '@timestamp': '2026-08-21T10:15:03.120Z', message, syslog: { identifier: 'postfix/smtp' }, host: { hostname: 'mx1' } },
    'mx1',
    at,
  ],
  ['Filebeat syslog', { '@timestamp': '2026-08-21T10:15:03.120Z', message, process: { name: 'postfix/smtp' }, hostname: 'mx1' }, 'mx1', at],
  ['Fluent Bit', { date: 1787307303.12, log: file }, 'mx1', at],
  ['Fluent Bit syslog', { date: 1787307303.12, host: 'mx1', ident: 'postfix/smtp', pid: '12', message }, 'mx1', at],
  [
    'Vector file',
    { file: '/var/log/mail.log', host: 'mx9', message: file, source_type: 'file', timestamp: '2026-08-21T10:15:03.120Z' },
    'mx1',
    at,
  ],
  ['Vector syslog', { appname: 'postfix/smtp', hostname: 'mx1', message, procid: 12, timestamp: '2026-08-21T10:15:03.120Z' }, 'mx1', at],
  ['Promtail', { line: exact, ts: '2026-08-21T10:15:03.120Z' }, 'mx1', at],
  [
    'rsyslog',
    { message: ` ${message}`.trim(), host: 'mx1', syslogtag: 'postfix/smtp[12]:', timestamp: '2026-08-21T12:15:03.120+02:00' },
    'mx1',
    at,
  ],
  [
    'rsyslog with the name cut at the slash, and its own in the tag',
    {
      '@timestamp': '2026-08-21T10:15:03.120Z',
      message: ` ${message}`,
      sysloghost: 'mx1',
      programname: 'postfix',
      syslogtag: 'postfix/smtp[12]:',
    },
    'mx1',
    at,
  ],
  [
    'rsyslog with the name cut at the slash',
    { '@timestamp': '2026-08-21T10:15:03.120Z', message: ` ${message}`, sysloghost: 'mx1', programname: 'postfix', procid: '12' },
    'mx1',
    at,
  ],
  ['a changed syslog_name', file.replace('postfix/smtp', 'news/smtp'), 'mx1', null],
  ['a changed syslog_name without a service', file.replace('postfix/smtp', 'news'), 'mx1', null],
  ['a container with a level', `2026-08-21T10:15:03.120Z INFO    postfix/smtp[12]: ${message}`, null, at],
  ['a container with a log level and a changed syslog_name', `2026-08-21T10:15:03.120Z INFO news/smtp[12]: ${message}`, null, at],
  ['Docker with times', `2026-08-21T10:15:03.120000000Z ${file}`, 'mx1', at],
  ['Kubernetes', `2026-08-21T10:15:03.120000000Z stdout F ${file}`, 'mx1', at],
  ['Docker Compose', `mail-1  | ${file}`, 'mx1', null],
  ['Docker Compose with times', `mail-1  | 2026-08-21T10:15:03.120000000Z ${file}`, 'mx1', at],
  ['journalctl with the day of the week', `Fri 2026-08-21 10:15:03 UTC mx1 postfix/smtp[12]: ${message}`, 'mx1', at - 120],
  ['journalctl with another zone', `Fri 2026-08-21 12:15:03 CEST mx1 postfix/smtp[12]: ${message}`, 'mx1', null],
  ['a year', `Aug 21 2026 12:15:03 mx1 postfix/smtp[12]: ${message}`, 'mx1', null],
  ['syslog-ng', { MESSAGE: message, PROGRAM: 'postfix/smtp', HOST: 'mx1', DATE: 'Aug 21 12:15:03' }, 'mx1', null],
  ['Docker', { log: `${exact}\n`, stream: 'stdout', time: '2026-08-21T10:15:09Z' }, 'mx1', at],
  [
    'grok',
    {
      ...{ program: 'postfix/smtp', logsource: 'mx1', '@timestamp': '2026-08-21T10:15:03.120Z', message: 'parsed', postfix_queueid: id },
      ...{
        postfix_to: 'ada@example.net',
        postfix_relay_hostname: 'mx.example.net',
        postfix_relay_ip: '203.0.113.9',
        postfix_relay_port: 25,
      },
      ...{ postfix_delay: '1.2', postfix_dsn: '2.0.0', postfix_status: 'sent', postfix_smtp_response: '250 2.0.0 Ok: queued as XYZ' },
    },
    'mx1',
    at,
  ],
]

test('Postfix: a line gives the same event from every shipper', async (t) => {
  const first = await eventOf(file)
  const nameless = await eventOf(message)
  for (const [name, line, host, occurredAt] of shippings) {
    const { events, rejected } = await read(line)
    t.deepEqual(rejected, [], name)
    const key = (host === null ? nameless : first)?.key
    t.deepEqual(events[0]?.event, first && { ...first, key, occurredAt, reportingMta: host }, name)
  }
  t.deepEqual([first?.remoteMta, first?.remoteIp, first?.smtpCode], ['mx.example.net', '203.0.113.9', 250])
})

const delivery = (service: string, rest: string) =>
  eventOf(`Aug 21 12:15:03 mx1 postfix/${service}[1]: ${id}: to=<ada@example.net>, ${rest}`)
const sent = (service: string, relay: string, reply: string) =>
  delivery(service, `relay=${relay}, delay=1, delays=0/0/0/1, dsn=2.0.0, status=sent (${reply})`)

test('Postfix: sent means delivered for a mailbox, relayed for another host', async (t) => {
  const action = async (...args: Parameters<typeof sent>) => (await sent(...args))?.action
  t.is(await action('local', 'local', 'delivered to mailbox'), 'delivered')
  t.is(await action('virtual', 'virtual', 'delivered to maildir'), 'delivered')
  t.is(await action('pipe', 'dovecot', 'delivered via dovecot service'), 'delivered')
  t.is(await action('lmtp', 'mx1[private/dovecot-lmtp]', '250 2.0.0 <ada@example.net> abc Saved'), 'delivered')
  t.is(await action('lmtp', '127.0.0.1[127.0.0.1]:24', '250 2.0.0 <ada@example.net> abc Saved'), 'delivered')
  t.is(await action('smtp', 'mx.example.net[203.0.113.9]:25', '250 2.0.0 Ok: queued as XYZ'), 'relayed')
  t.is(await action('smtp', '127.0.0.1[127.0.0.1]:25', '250 kept'), 'relayed')
  t.is(await action('submission/smtp', 'mx.example.net[203.0.113.9]:25', '250 Ok'), 'relayed')
})

test('Postfix: sent to a filter, an alias or Postern, or by a probe, is no delivery', async (t) => {
  t.is(
    await sent('smtp', '127.0.0.1[127.0.0.1]:10024', '250 2.0.0 from MTA(smtp:[127.0.0.1]:10025): 250 2.0.0 Ok: queued as 4cYt3r0BBB'),
    undefined,
  )
  t.is(await sent('pipe', 'spamassassin', 'delivered via spamassassin service'), undefined)
  t.is(await sent('local', 'local', 'forwarded as 4cYt3r0BBB'), undefined)
  t.is(await sent('smtp', 'mail.example[198.51.100.7]:587', '250 2.0.0 queued as 0b7d7f3e-93a2-4c1b-8a55-0f0b3f6f7a11'), undefined)
  t.is(await sent('discard', 'none', 'example.net'), undefined)
  t.is(await delivery('smtp', 'relay=x, delay=1, delays=0/0/0/1, dsn=5.1.1, status=undeliverable (host x said: 550 no)'), undefined)
})

test('Postfix: soft_bounce means a deferral, and an unknown status is rejected', async (t) => {
  const soft = await delivery(
    'smtp',
    'relay=x[203.0.113.9]:25, delay=1, delays=0/0/0/1, dsn=5.1.1, status=SOFTBOUNCE (host x[203.0.113.9] said: 550 no)',
  )
  t.deepEqual([soft?.type, soft?.action], ['deferred', 'delayed'])
  const memory = new Map<string, LogSession>()
  const line = (rest: string): string => `Aug 21 12:15:03 mx1 postfix/${rest}`
  const deferral = `${id}: to=<ada@example.net>, relay=none, delay=1, delays=0/0/0/1, dsn=4.4.1, status=deferred (connect to x: timed out)`
  await readWholeLog('postfix', line(`smtp[1]: ${deferral}`), memory)
  const { rejected, ignored } = await readWholeLog('postfix', line(`smtp[1]: ${deferral.replace('deferred', 'postponed')}`), memory)
  t.deepEqual([rejected, ignored], [[{ line: 1, reason: 'has the unknown delivery status "postponed"' }], 0])
  const { events } = await readWholeLog('postfix', line(`qmgr[1]: ${id}: from=<${sender}>, status=expired, returned to sender`), memory)
  t.deepEqual(
    events.map(({ event }) => [event.recipient, event.type]),
    [['ada@example.net', 'bounced']],
  )
})

test('Postfix: refusals keep the reply and name of the refusing server', async (t) => {
  const reply = 'host mx2.example.net[2001:db8::9] said: 550-5.7.1 no 550 5.7.1 never (in reply to end of DATA command)'
  const found = await delivery(
    'smtp',
    `relay=mx.example.net[203.0.113.9]:25, delay=1, delays=0/0/0/1, dsn=5.7.1, status=bounced (${reply})`,
  )
  t.deepEqual(
    [found?.type, found?.action, found?.diagnostic, found?.remoteMta, found?.remoteIp, found?.smtpCode, found?.status],
    ['bounced', 'failed', '550-5.7.1 no 550 5.7.1 never', 'mx2.example.net', '2001:db8::9', 550, '5.7.1'],
  )
  const silent = await delivery(
    'smtp',
    'relay=none, delay=1, delays=0/0/1/0, dsn=4.4.1, status=deferred (connect to mx[203.0.113.9]:25: timed out)',
  )
  t.deepEqual(
    [silent?.type, silent?.action, silent?.status, silent?.smtpCode, silent?.remoteMta],
    ['deferred', 'delayed', '4.4.1', null, null],
  )
})

const active = `Aug 21 12:15:02 mx1 postfix/qmgr[9]: ${id}: from=<${sender}>, size=1, nrcpt=1 (queue active)`
const queued = `Aug 21 12:15:01 mx1 postfix/cleanup[8]: ${id}: message-id=<one@example.com>`
const removed = `Aug 21 12:15:04 mx1 postfix/qmgr[9]: ${id}: removed`
const deferred = (delay: number, to = 'ada@example.net') =>
  `Aug 21 12:15:03 mx1 postfix/smtp[12]: ${id}: to=<${to}>, relay=none, delay=${String(delay)}, delays=0/0/1/0, dsn=4.4.1, status=deferred (timed out)`
const expired = `Aug 26 12:15:03 mx1 postfix/qmgr[9]: ${id}: from=<${sender}>, status=expired, returned to sender`

test('Postfix: remembers sender and Message-ID until the message leaves the queue', async (t) => {
  const memory = new Map<string, LogSession>()
  const requests = [queued, active, deferred(1), deferred(300), expired, removed]
  const whole = await read(...requests)
  const events = []
  for (const line of requests) events.push(...(await readWholeLog('postfix', line, memory)).events.map(({ event }) => event))
  t.deepEqual(
    events,
    whole.events.map(({ event }) => event),
  )
  t.deepEqual(
    events.map(({ type, status, clues }) => `${type} ${String(status)} ${clues.returnPaths.join()} ${clues.messageIds.join()}`),
    ['deferred 4.4.1', 'deferred 4.4.1', 'bounced 4.4.7'].map((reply) => `${reply} ${sender} <one@example.com>`),
  )
  t.is(memory.size, 0)
  t.is(new Set(keysOf(whole.events)).size, 3)
})

test('Postfix: equal queue IDs on two hosts are different events', async (t) => {
  const lines = [file, deferred(1), expired]
  const { events } = await read(
    ...lines,
    ...lines.map((line) => line.replace('mx1', 'mx2')),
    ...lines.map((line) => line.replace('mx1', 'MX1')),
  )
  t.is(events.length, 9)
  t.is(new Set(keysOf(events)).size, 6)
})

test('Postfix: joins lines by host and queue ID in any order', async (t) => {
  const elsewhere = [queued, active].map((line) =>
    line.replace('mx1', 'mx2').replace('one@', 'two@').replace(sender, 'b2@bounce.example.com'),
  )
  const { events } = await read(deferred(1), ...elsewhere, active, queued)
  t.deepEqual([events[0]?.event.clues.returnPaths, events[0]?.event.clues.messageIds], [[sender], ['<one@example.com>']])
})

test('Postfix: expiry bounces deferred recipients only, at most 100', async (t) => {
  const arrived = deferred(9, 'ben@example.net').replace('status=deferred (timed out)', 'status=sent (250 Ok)')
  const { events } = await read(active, deferred(1), deferred(1, 'ben@example.net'), arrived, expired)
  t.deepEqual(
    events.slice(3).map(({ event: { type, recipient, key } }) => [type, recipient, key.length]),
    [['bounced', 'ada@example.net', 64]],
  )
  const memory = new Map<string, LogSession>()
  await readWholeLog('postfix', Array.from({ length: 300 }, (_, i) => deferred(1, `r${String(i)}@example.net`)).join('\n'), memory)
  t.is([...memory.values()][0]?.deferred.length, 100)
})

test('Postfix: a null sender gives no return path, a missing Message-ID no clue', async (t) => {
  const { events } = await read(active.replace(sender, ''), queued.replace('<one@example.com>', ''), deferred(1))
  t.deepEqual([events[0]?.event.clues.returnPaths, events[0]?.event.clues.messageIds], [[], []])
})

test('Postfix: reads sender, Message-ID, expiry and removal from grok fields', async (t) => {
  const grok = (fields: object) => ({ program: 'postfix/qmgr', logsource: 'mx1', message: 'x', postfix_queueid: id, ...fields })
  const memory = new Map<string, LogSession>()
  const lines = [
    grok({ 'postfix_message-id': 'one@example.com', program: 'postfix/cleanup' }),
    grok({ postfix_from: sender, postfix_nrcpt: 1 }),
    grok({ postfix_to: 'ada@example.net', postfix_status: 'deferred', postfix_delay: 1, postfix_dsn: '4.4.1', program: 'postfix/smtp' }),
    grok({ postfix_from: sender, postfix_status: 'expired' }),
    grok({ postfix_message: 'removed' }),
    grok({ program: 'dovecot' }),
  ]
  const { events, ignored } = await readWholeLog('postfix', lines.map((line) => JSON.stringify(line)).join('\n'), memory)
  t.deepEqual(
    events.map(({ event: { status, clues } }) => [status, ...clues.returnPaths, ...clues.messageIds]),
    ['4.4.1', '4.4.7'].map((status) => [status, sender, '<one@example.com>']),
  )
  t.deepEqual([ignored, memory.size], [4, 0])
})

test('Postfix: reads all lines with an unknown program name, as text and as fields', async (t) => {
  const texts = [
    `${id}: message-id=<one@example.com>`,
    `${id}: from=<${sender}>, size=812, nrcpt=1 (queue active)`,
    `${id}: to=<ada@example.net>, relay=none, delay=1, delays=0/0/0/1, dsn=4.4.1, status=deferred (connect to x: timed out)`,
    `${id}: from=<${sender}>, status=expired, returned to sender`,
    `${id}: removed`,
  ]
  const fields = [
    { 'postfix_message-id': 'one@example.com' },
    { postfix_from: sender, postfix_nrcpt: 1 },
    { postfix_to: 'ada@example.net', postfix_status: 'deferred', postfix_delay: 1, postfix_dsn: '4.4.1' },
    { postfix_from: sender, postfix_status: 'expired' },
    { postfix_message: 'removed' },
  ]
  const forms = new Map([
    ['syslog', texts.map((text) => `Aug 21 12:15:03 mx1 newsletter[1]: ${text}`)],
    ['a longer name', texts.map((text) => `Aug 21 12:15:03 mx1 news/a/b/out[1]: ${text}`)],
    ['JSON', texts.map((message) => JSON.stringify({ message, programname: 'newsletter', sysloghost: 'mx1' }))],
    ['grok', fields.map((own) => JSON.stringify({ message: 'x', program: 'newsletter', logsource: 'mx1', postfix_queueid: id, ...own }))],
  ])
  for (const [name, lines] of forms) {
    const memory = new Map<string, LogSession>()
    const found: unknown[] = []
    for (const line of lines) {
      const { events, rejected } = await readWholeLog('postfix', line, memory)
      t.deepEqual(rejected, [], name)
      for (const { event } of events) found.push([event.type, ...event.clues.returnPaths, ...event.clues.messageIds])
    }
    t.deepEqual(
      found,
      ['deferred', 'bounced'].map((type) => [type, sender, '<one@example.com>']),
      name,
    )
    t.is(memory.size, 0, name)
  }
  const { rejected, ignored } = await read({
    program: 'newsletter',
    postfix_queueid: id,
    postfix_to: 'ada@example.net',
    postfix_status: 'lost',
  })
  t.deepEqual([rejected.map(({ reason }) => reason), ignored], [['has the unknown delivery status "lost"'], 0])
})

test('Postfix: ignores other programs and rejects other text by line number', async (t) => {
  const { events, rejected, ignored } = await read(
    'Aug 21 12:15:03 mx1 dovecot: imap-login: Login: user=<ada>',
    'Aug 21 12:15:03 mx1 postfix/smtpd[1]: NOQUEUE: reject: RCPT from x: 550',
    `Aug 21 12:15:03 mx1 postfix/bounce[1]: ${id}: sender non-delivery notification: 4cYt3r0BBB`,
    'Aug 21 12:15:03 mx1 kernel: anything: at all',
    'not a line',
    '{"a":1}',
    '{"message":"not a line"}',
    '[[]]',
    'Aug 21 12:15:03 mx1 dovecot/lmtp[1]: Connect from local',
  )
  t.deepEqual(
    [events.length, ignored, rejected.map(({ line, reason }) => `${String(line)} ${reason}`)],
    [
      0,
      5,
      [
        '5 is not a line of syslog or Postfix',
        '6 has no field message, log, line, msg or MESSAGE',
        '7 contains no line of syslog or Postfix',
        '8 is not a line of syslog or Postfix',
      ],
    ],
  )
})

test('Postfix: keys do not depend on batches, times or order', async (t) => {
  const seeded = new Seeded('postfix')
  const lines = [
    queued,
    active,
    deferred(1),
    deferred(2),
    deferred(2, 'ben@example.net'),
    `Aug 21 12:15:03 mx1 postfix/smtp[12]: ${message}`,
  ]
  const wanted = keysOf((await read(...lines)).events)
  for (let round = 0; round < 50; round++) {
    const memory = new Map<string, LogSession>()
    const shuffled = lines.map((line) => [seeded.fraction(), line] as const).toSorted(([a], [b]) => a - b)
    const events = []
    for (const [, line] of shuffled)
      events.push(...(await readWholeLog('postfix', line.replace(/^Aug 21 12/, 'Sep  2 03'), memory, seeded)).events)
    t.deepEqual(keysOf(events), wanted)
  }
})

test('Postfix: mail returned by a filter is delivered once, under its second queue ID', async (t) => {
  const filtered = `Aug 21 12:15:03 mx1 postfix/smtp[12]: ${id}: to=<ada@example.net>, relay=127.0.0.1[127.0.0.1]:10025, delay=1, delays=0/0/0/1, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as 4cYt3r0BBB)`
  const back = queued.replace(id, '4cYt3r0BBB')
  const final = `Aug 21 12:15:04 mx1 postfix/smtp[12]: ${message.replace(id, '4cYt3r0BBB')}`
  const ids = (events: Awaited<ReturnType<typeof read>>['events']) => events.map(({ event }) => event.clues.queueIds.join())
  t.deepEqual(ids((await read(active, back, filtered, final)).events), ['4cYt3r0BBB'])
  const memory = new Map<string, LogSession>()
  const events = []
  for (const line of [active, back, filtered, final]) events.push(...(await readWholeLog('postfix', line, memory)).events)
  t.deepEqual(ids(events), ['4cYt3r0BBB'])
  t.deepEqual(ids((await read(active, back.replace('mx1', 'mx2'), filtered)).events), [id], 'a smart host nearby is no filter')
})
