/** Exim's main log: outcomes, header forms, shippers, and joining by message ID. */
import test from '#test'
import type { LogSession } from '#ingest/logs/log-group.ts'
import { readWholeLog } from './log-reading.ts'

const id = '1tHx5r-000000001AB-2cDe'
const time = '2026-08-21 12:15:03'
const zoned = `${time}.120 +0200`
const at = Date.parse('2026-08-21T10:15:03.120Z')
const arrival = `<= b1@bounce.example.com H=relay.example.com (web) [198.51.100.20] P=esmtpsa X=TLS1.3:TLS_AES_256_GCM_SHA384:256 CV=no A=plain:web S=4711 id=order-1@shop.example`
const host = 'R=dnslookup T=remote_smtp H=mx.example.net [203.0.113.9]:25 X=TLS1.3:TLS_AES_256_GCM_SHA384:256 CV=yes DN="CN=mx: one"'

const read = (...lines: readonly unknown[]) =>
  readWholeLog('exim', lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
const ofMessage = (...lines: readonly string[]) => read(...lines.map((line) => `${time} ${id} ${line}`))

test("Exim: a delivery has the arrival's sender and Message-ID, and the host's reply", async (t) => {
  const { events, rejected, ignored } = await ofMessage(
    arrival,
    `=> ada@example.net ${host} C="250 2.0.0 Ok: queued as \\"X\\""`,
    'Completed',
  )
  t.deepEqual([rejected, ignored], [[], 2])
  t.like(events[0]?.event, {
    ...{ format: 'exim', type: 'delivered', action: 'relayed', recipient: 'ada@example.net', originalRecipient: null },
    ...{ status: '2.0.0', smtpCode: 250, remoteMta: 'mx.example.net', remoteIp: '203.0.113.9' },
  })
  t.like(events[0]?.event.clues, {
    returnPaths: ['b1@bounce.example.com'],
    messageIds: ['<order-1@shop.example>'],
    queueIds: [id],
  })
})

const refusal = 'SMTP error from remote mail server after RCPT TO:<ada@example.net>: 550 5.1.1 No such user'
const outcomes: readonly (readonly [
  line: string,
  type: string,
  recipient: string,
  original: string | null,
  status: string | null,
  text: string | null,
])[] = [
  [`** ada@example.net ${host}: ${refusal}`, 'bounced', 'ada@example.net', null, '5.1.1', '550 5.1.1 No such user'],
  [
    `** ada@example.net <all@shop.example> ${host} : ${refusal}`,
    'bounced',
    'ada@example.net',
    'all@shop.example',
    '5.1.1',
    '550 5.1.1 No such user',
  ],
  ['** ada@example.net: Unrouteable address', 'bounced', 'ada@example.net', null, null, 'Unrouteable address'],
  ['** ada@example.net : Unrouteable address', 'bounced', 'ada@example.net', null, null, 'Unrouteable address'],
  [
    '** ada@example.net F=<b1@bounce.example.com>: retry timeout exceeded',
    'bounced',
    'ada@example.net',
    null,
    '4.4.7',
    'retry timeout exceeded',
  ],
  ['** ada@example.net routing yielded a local delivery', 'bounced', 'ada@example.net', null, null, 'routing yielded a local delivery'],
  [
    `== ada@example.net R=dnslookup T=remote_smtp defer (-44) H=mx.example.net [203.0.113.9]: SMTP error from remote mail server after RCPT TO:<ada@example.net>: host mx2.example.net [203.0.113.10]: 451 4.7.1 Greylisted\\nTry later`,
    ...(['deferred', 'ada@example.net', null, '4.7.1', '451 4.7.1 Greylisted Try later'] as const),
  ],
  [
    '== ada@example.net R=dnslookup T=remote_smtp defer (-1)',
    'deferred',
    'ada@example.net',
    null,
    null,
    'R=dnslookup T=remote_smtp defer (-1)',
  ],
  ['=> ada <ada@shop.example> R=local_user T=maildir_home', 'delivered', 'ada@shop.example', null, null, null],
  ['=> /var/mail/list (all@shop.example) <all@shop.example> R=r T=file', 'delivered', 'all@shop.example', null, null, null],
  ['=> |/usr/bin/vacation ada <ada@shop.example> R=userforward T=address_pipe', 'delivered', 'ada@shop.example', null, null, null],
  [`-> "a b"@example.net <x@shop.example> ${host} C="250 OK"`, 'delivered', '', 'x@shop.example', '2.0.0', '250 OK'],
  ['>> ada@example.net H=mx.example.net [203.0.113.9] C="250 OK"', 'delivered', 'ada@example.net', null, '2.0.0', '250 OK'],
]

test('Exim: each outcome has its recipient, status and diagnostic', async (t) => {
  for (const [line, type, recipient, original, status, text] of outcomes) {
    const { events, rejected } = await ofMessage(line)
    t.deepEqual(rejected, [], line)
    const { event } = events[0] ?? t.fail(line)
    t.deepEqual(
      [event.type, event.recipient ?? '', event.originalRecipient, event.status, event.diagnostic],
      [type, recipient, original, status, text],
      line,
    )
  }
})

test('Exim: discarded mail and hand-overs to a filter or Postern are not deliveries', async (t) => {
  const ours = 'C="250 2.0.0 Ok: queued as 0d0c5dc5-5a2a-4b9c-9c0a-6c1f6c1f6c1f"'
  for (const line of [
    '=> :blackhole: <ada@example.net> R=system_aliases',
    '=> blackhole (RCPT ACL discarded recipients)',
    '*> ada@example.net R=dnslookup T=remote_smtp',
    '=> ada <ada@example.net> R=spamcheck_router T=spamcheck',
    `=> ada@example.net R=smarthost T=remote_smtp H=127.0.0.1 [127.0.0.1] ${ours}`,
  ]) {
    const { events, rejected, ignored } = await ofMessage(line)
    t.deepEqual([events, rejected, ignored], [[], [], 1], line)
  }
})

test('Exim: mail returned by a filter is delivered once, under its second ID', async (t) => {
  const second = '1tHx5s-000000001AC-3dEf'
  const memory = new Map<string, LogSession>()
  const events = []
  for (const line of [
    `${id} ${arrival}`,
    `${second} ${arrival}`,
    `${id} => ada@example.net R=scan T=to_scanner H=127.0.0.1 [127.0.0.1]:10025 C="250 OK id=${second}"`,
    `${id} Completed`,
    `${second} => ada@example.net ${host} C="250 OK"`,
    `${second} Completed`,
  ])
    events.push(...(await readWholeLog('exim', `${time} ${line}`, memory)).events.map(({ event }) => event))
  t.deepEqual(
    events.map(({ clues }) => clues.queueIds),
    [[second]],
  )
  t.is(memory.size, 0, 'what left the queue is forgotten')
})

const bounce = `${id} ** ada@example.net ${host}: ${refusal}`
const shippings: readonly (readonly [string, unknown, string | null, number | null])[] = [
  ['the main log', `${time} ${bounce}`, null, null],
  ['a process id', `${time} [2101] ${bounce}`, null, null],
  ['zone and milliseconds', `${zoned} [2101] ${bounce}`, null, at],
  ['an id of 16 characters', `${time} ${bounce.replace(id, '1tHx5r-0001AB-2c')}`, null, null],
  ['syslog', `Aug 21 12:15:03 mx1 exim[2101]: ${bounce}`, 'mx1', null],
  ['syslog with both times', `Aug 21 12:15:03 mx1 exim4[2101]: ${zoned} ${bounce}`, 'mx1', at],
  ['syslog of RFC 5424', `<22>1 2026-08-21T10:15:03.120Z mx1 exim 12 - - ${bounce}`, 'mx1', at],
  ['Kubernetes', `2026-08-21T10:15:04.000Z stdout F ${zoned} ${bounce}`, null, at],
  ['Docker Compose', `mail-1  | ${zoned} ${bounce}`, null, at],
  ['journald', { MESSAGE: bounce, SYSLOG_IDENTIFIER: 'exim', _HOSTNAME: 'mx1', __REALTIME_TIMESTAMP: '1787307303120000' }, 'mx1', at],
  ['Filebeat', { '@timestamp': '2026-08-21T10:15:03.120Z', message: `${time} ${bounce}`, host: { name: 'mx1' } }, 'mx1', at],
  ['Fluent Bit', { date: 1787307303.12, log: `${time} ${bounce}` }, null, at],
]

test('Exim: a line gives the same event with every log_selector and shipper', async (t) => {
  for (const [name, line, reportingMta, occurredAt] of shippings) {
    const { events, rejected } = await read(line)
    t.deepEqual(rejected, [], name)
    const { event } = events[0] ?? t.fail(name)
    t.like(event, { type: 'bounced', recipient: 'ada@example.net', status: '5.1.1', reportingMta, occurredAt }, name)
  }
})

test('Exim: ignores lines without an outcome, and rejects invalid lines with a reason', async (t) => {
  const { events, rejected, ignored } = await read(
    `${time} exim 4.96 daemon started: pid=2101, -q30m, listening for SMTP on port 25`,
    `${time} ${id} DKIM: d=example.com s=a c=relaxed/relaxed a=rsa-sha256 b=2048 [verification succeeded]`,
    `${time} ${id} Message is frozen`,
    'Aug 21 12:15:03 mx1 sshd[12]: Accepted publickey for root',
    'no line of a log',
    { message: 'no line of a log' },
    `${time} ${id} ** mua_wrapper is set but recipients cannot all be delivered in one transaction`,
  )
  t.deepEqual([events, ignored], [[], 4])
  t.deepEqual(rejected, [
    { line: 5, reason: 'is not a line of syslog or Exim' },
    { line: 6, reason: 'contains no line of syslog or Exim' },
    { line: 7, reason: 'is a delivery line of Exim without an address' },
  ])
})

test('Exim: a repeated deferral is a new event, a repeated line is not', async (t) => {
  const deferral = `${id} == ada@example.net R=dnslookup T=remote_smtp defer (111): Connection refused`
  const { events } = await read(
    `${time} ${deferral}`,
    `2026-08-21 12:45:03 ${deferral}`,
    `${time} ${deferral}`,
    `${time} ${bounce}`,
    bounce,
  )
  t.is(new Set(events.map(({ event }) => event.key)).size, 3)
})
