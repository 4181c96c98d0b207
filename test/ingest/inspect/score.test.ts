/** The complete report: mails with 100 points, the cost of single changes, and independence from the environment. */
import { Socket } from 'node:net'
import test from '#test'
import type { InspectReport } from '#core/inspect/report.ts'
import { inspectMail } from '#ingest/inspect/score.ts'
import { alternative, clientIp, letter, newsletter, rsaKey, signed, type Changes } from './golden.ts'
import { column } from '../../support/column.ts'

/** Checks without full points. */
const lacking = ({ checks }: InspectReport): Record<string, number> =>
  Object.fromEntries(checks.filter(({ status, points, max }) => status !== 'na' && points < max).map(({ id, points }) => [id, points]))
const caps = (report: InspectReport): string[] => report.caps.map(({ id }) => id)

test('score: a correct transactional mail has 100 points', async (t) => {
  const report = await inspectMail(await letter())
  t.deepEqual(lacking(report), {})
  t.is(report.score, 100)
  t.is(report.grade, 'A')
  t.deepEqual(
    column(
      report.checks.filter(({ status }) => status === 'na'),
      'id',
    ),
    ['list_unsubscribe'],
  )
  t.deepEqual(report.mail, { from: 'Example Shop <orders@example.com>', subject: 'Your order 1042 is on its way' })
})

test('score: a correct newsletter has 100 points, and every check counts', async (t) => {
  const report = await inspectMail(await newsletter())
  t.deepEqual(lacking(report), {})
  t.is(report.score, 100)
  t.true(report.checks.every(({ status }) => status === 'pass'))
})

test('score: the 17 checks have 100 points in total', async (t) => {
  const { checks } = await inspectMail(await letter())
  t.is(checks.length, 17)
  t.is(
    checks.reduce((sum, { max }) => sum + max, 0),
    100,
  )
})

interface Mutation {
  readonly what: string
  readonly mail?: typeof letter
  readonly changes: Changes
  /** The remaining points of each affected check. */
  readonly lacking: Readonly<Record<string, number>>
  readonly caps?: readonly string[]
}

const plain = 'Your order of the blue teapot is on its way and will reach you on Monday.'
const reversed = '25.113.0.203'
const file = (name: string): string =>
  `--b1\r\nContent-Type: text/plain\r\n\r\n${plain}\r\n--b1\r\nContent-Type: application/octet-stream; name="${name}"\r\n` +
  `Content-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8=\r\n--b1--\r\n`

const mutations: readonly Mutation[] = [
  { what: 'drop the DKIM signature', changes: { sign: () => '' }, lacking: { dkim: 0, dmarc: 10 } },
  {
    what: 'drop the DKIM signature of a newsletter',
    mail: newsletter,
    changes: { sign: () => '' },
    lacking: { dkim: 0, dmarc: 10, list_unsubscribe: 3 },
  },
  {
    what: 'break one byte of the body',
    changes: { after: (text) => text.replace('blue teapot', 'blue teapots') },
    lacking: { dkim: 0, dmarc: 10 },
  },
  {
    what: 'break one byte of the signed header',
    changes: { after: (text) => text.replace('order 1042 is', 'order 1043 is') },
    lacking: { dkim: 0, dmarc: 10 },
  },
  { what: 'drop the SPF record', changes: { zone: { 'shop.example.com TXT': undefined } }, lacking: { spf: 0 } },
  {
    what: 'drop SPF and DKIM',
    changes: { sign: () => '', zone: { 'shop.example.com TXT': undefined } },
    lacking: { spf: 0, dkim: 0, dmarc: 0 },
    caps: ['unauthenticated', 'dmarc_fails'],
  },
  {
    what: 'send and sign for another domain',
    changes: {
      session: { mailFrom: 'x@other.test' },
      sign: (message) => signed(message, { domain: 'other.test' }),
      zone: {
        'other.test TXT': [['v=spf1 ip4:203.0.113.25 -all']],
        'other.test MX': [{ exchange: 'mx.example.com', priority: 1 }],
        'k1._domainkey.other.test TXT': [[`v=DKIM1; p=${rsaKey().publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`]],
      },
    },
    lacking: { dmarc: 0 },
    caps: ['dmarc_fails'],
  },
  { what: 'drop the DMARC record', changes: { zone: { '_dmarc.example.com TXT': undefined } }, lacking: { dmarc: 5, dmarc_policy: 0 } },
  {
    what: 'drop PTR',
    changes: { zone: { [`${reversed}.in-addr.arpa PTR`]: undefined } },
    lacking: { fcrdns: 0 },
    caps: ['no_reverse_dns'],
  },
  { what: 'point PTR elsewhere', changes: { zone: { [`${reversed}.in-addr.arpa PTR`]: ['other.test'] } }, lacking: { fcrdns: 0 } },
  { what: 'drop the address of the greeting name', changes: { session: { helo: 'nowhere.example.com' } }, lacking: { helo: 1 } },
  { what: 'send in plain text', changes: { session: { tls: null } }, lacking: { tls: 0 } },
  {
    what: 'list the client on a major list',
    changes: { zone: { [`${reversed}.major.ip.test A`]: ['127.0.0.2'] } },
    lacking: { ip_blocklist: 0 },
    caps: ['listed'],
  },
  {
    what: 'list the client on a minor list',
    changes: { zone: { [`${reversed}.minor.ip.test A`]: ['127.0.0.2'] } },
    lacking: { ip_blocklist: 4 },
  },
  { what: 'list the domain', changes: { zone: { 'example.com.major.domain.test A': ['127.0.1.2'] } }, lacking: { domain_blocklist: 0 } },
  { what: 'drop the MX of the sender', changes: { zone: { 'shop.example.com MX': undefined } }, lacking: { sender_domain: 0 } },
  { what: 'drop the reports about TLS', changes: { zone: { '_smtp._tls.example.com TXT': undefined } }, lacking: { domain_hardening: 1 } },
  {
    what: 'double the From',
    changes: { header: { From: ['Example Shop <orders@example.com>', 'Example Shop <orders@example.com>'] } },
    lacking: { dmarc: 0, headers: 0 },
  },
  { what: 'drop the Message-ID', changes: { header: { 'Message-ID': null } }, lacking: { headers: 6 } },
  { what: 'empty the subject', changes: { header: { Subject: '' } }, lacking: { subject_and_sender: 3 } },
  {
    what: 'remove the text part',
    changes: { header: { 'Content-Type': 'text/html; charset=utf-8' }, body: `<html><body><p>${plain}</p></body></html>\r\n` },
    lacking: { mime_structure: 4 },
  },
  {
    what: 'attach a program',
    changes: { header: { 'Content-Type': 'multipart/mixed; boundary="b1"' }, body: file('invoice.pdf.exe') },
    lacking: { mime_structure: 0 },
    caps: ['dangerous_attachment'],
  },
  {
    what: 'show a picture alone',
    changes: {
      header: { 'Content-Type': 'text/html; charset=utf-8' },
      body: '<html><body><img src="https://www.example.com/a.png" alt=""></body></html>\r\n',
    },
    lacking: { mime_structure: 2, html_content: 0 },
    caps: ['no_words'],
  },
  { what: 'drop one-click', mail: newsletter, changes: { header: { 'List-Unsubscribe-Post': null } }, lacking: { list_unsubscribe: 3 } },
  { what: 'drop List-Unsubscribe', mail: newsletter, changes: { header: { 'List-Unsubscribe': null } }, lacking: { list_unsubscribe: 0 } },
  { what: 'add a script', changes: { body: alternative(plain, `<p>${plain}</p><script>alert(1)</script>`) }, lacking: { html_content: 0 } },
  {
    what: 'link without encryption',
    changes: { body: alternative(plain, `<p>${plain}</p><a href="http://www.example.com/">Shop</a>`) },
    lacking: { links: 3 },
  },
]

for (const { what, mail = letter, changes, lacking: expected, caps: expectedCaps = [] } of mutations)
  test(`score: to ${what} changes only ${Object.keys(expected).join(', ')}`, async (t) => {
    const report = await inspectMail(await mail(changes))
    t.deepEqual(lacking(report), expected)
    t.deepEqual(caps(report), expectedCaps)
    const most = report.checks.filter(({ status }) => status !== 'na')
    const share = Math.round((100 * sum(most.map(({ points }) => points))) / sum(most.map(({ max }) => max)))
    t.is(report.score, Math.min(share, ...report.caps.map(({ limit }) => limit)))
    for (const { id, fix, summary } of report.checks.filter(({ status }) => status === 'warn' || status === 'fail')) {
      t.true((fix ?? '').length > 10, `${id} says how to mend it`)
      t.true(summary.length > 10, `${id} names the fault`)
    }
  })

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

test('score: equal mails and DNS answers give equal reports', async (t) => {
  const [first, second] = [await inspectMail(await newsletter()), await inspectMail(await newsletter())]
  t.is(JSON.stringify(first), JSON.stringify(second))
})

test('score: unknown checks do not count and do not affect other checks', async (t) => {
  const changes: Changes = { header: { Subject: '' } }
  const whole = await inspectMail(await letter(changes))
  const fewer = await inspectMail(await letter({ ...changes, session: { tlsOffered: false, tls: null }, lists: [] }))
  const unknown = ['tls', 'ip_blocklist', 'domain_blocklist']
  t.deepEqual(
    column(
      fewer.checks.filter(({ id, status }) => unknown.includes(id) && status === 'na'),
      'id',
    ),
    unknown,
  )
  t.deepEqual(
    fewer.checks.filter(({ id }) => !unknown.includes(id)),
    whole.checks.filter(({ id }) => !unknown.includes(id)),
  )
})

test('score: a temporary DNS fault costs no points for any query', async (t) => {
  const perfect = await newsletter()
  await inspectMail(perfect)
  const questions = [...new Set(perfect.dns.questions)]
  t.true(questions.length > 20)
  for (const question of questions)
    for (const code of ['ETIMEOUT', 'ESERVFAIL']) {
      const report = await inspectMail(await newsletter({ zone: { [question]: code } }))
      t.deepEqual(lacking(report), {}, `${question} ${code}`)
      t.is(report.score, 100, `${question} ${code}`)
    }
  const silent = await inspectMail(await newsletter({ zone: Object.fromEntries(questions.map((question) => [question, 'ETIMEOUT'])) }))
  t.is(silent.score, 100)
  t.deepEqual(silent.caps, [])
})

test('score: no link host is resolved, and every DNS query is sent once', async (t) => {
  const body = alternative(
    `${plain} https://www.example.com/a`,
    `<p>${plain}</p><a href="https://click.tracker.test/x">Shop</a><img src="https://img.tracker.test/1.png" alt="">`,
  )
  const mail = await letter({ body })
  await inspectMail(mail)
  const { questions } = mail.dns
  t.false(questions.some((question) => /^(?:www\.example\.com|(?:click|img)\.tracker\.test|tracker\.test) /.test(question)))
  t.true(questions.includes('tracker.test.major.domain.test A'))
  t.is(new Set(questions).size, questions.length)
  t.is(questions.filter((question) => question === `${reversed}.major.ip.test A`).length, 1)
  t.is(clientIp, '203.0.113.25')
})

test.serial('score: opens no connection, and ends without DNS and network', async (t) => {
  const input = await newsletter()
  const { connect } = Socket.prototype
  t.teardown(() => (Socket.prototype.connect = connect))
  Socket.prototype.connect = () => {
    throw new Error('the scorer opened a connection')
  }
  t.throws(() => new Socket().connect(1), { message: /opened a connection/ })
  const report = await inspectMail({ ...input, resolve: () => Promise.reject(Object.assign(new Error('none'), { code: 'ETIMEOUT' })) })
  t.is(report.checks.length, 17)
})

test('score: an SPF record causes ten lookups at most', async (t) => {
  const includes = Array.from({ length: 30 }, (_, at) => `include:i${at}.test`).join(' ')
  const mail = await letter({
    zone: {
      'shop.example.com TXT': [[`v=spf1 ${includes} -all`]],
      ...Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`i${at}.test TXT`, [['v=spf1 -all']]])),
    },
  })
  const report = await inspectMail(mail)
  t.is(report.checks.find(({ id }) => id === 'spf')?.status, 'fail')
  t.true(mail.dns.questions.filter((question) => /^i\d+\.test TXT$/.test(question)).length <= 10)
})
