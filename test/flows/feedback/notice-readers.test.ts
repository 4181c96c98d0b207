/** Notices to authors, parsed by our report reader and by the email package of Python. */
import type { ExecutionContext } from 'ava'
import { readReport } from '#ingest/report/report.ts'
import { makeDestination, makeLogin, type Login } from '../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { readByPython, withPython } from '../../support/peers/python-email.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { VendorDouble } from '../../support/vendors/double.ts'
import { sendgridRules } from '../../support/vendors/sendgrid-double.ts'

const minute = 60_000
const giveUp = 120 * minute
const author = 'editor@example.ch'
const longAddress = `gone.${'a'.repeat(59)}@${'long-label.'.repeat(6)}example.net`

/** The values to find in a notice. */
interface Expected {
  readonly status: string
  readonly recipient?: string
  /** Diagnostic-Code; undefined if no server replied. */
  readonly diagnostic?: string
  readonly remoteMta?: string
  /** A sentence in the text part. */
  readonly reason: RegExp
}

type Logins = Readonly<Record<'smtp' | 'verp' | 'http' | 'dead', Login>>

interface Case extends Expected {
  readonly login: keyof Logins
  readonly id: string
}

const phrases: Readonly<Record<string, string>> = {
  'gone@example.net': '550 5.1.1 no such user',
  'plain@example.net': '554 Message refused, see https://example.net/why?id=1;2',
  'busy@example.net': '451 4.7.1 Greylisted, come back in 5 minutes',
  'bytes@example.net': '550 5.1.1 Postfach unbekannt: Größe (voll) \\ "x"',
  [longAddress]: `550 5.1.10 ${'very '.repeat(60)}long`,
}

const letter = (id: string, to: string): Buffer =>
  Buffer.from(`From: ${author}\r\nTo: ${to}\r\nSubject: Grüße\r\nMessage-ID: <${id}@example.ch>\r\nDate: now\r\n\r\nhello\r\n`)

async function sendBySmtp({ addresses }: StartedDaemon, login: Login, { id, recipient = 'gone@example.net' }: Case): Promise<void> {
  const client = await SmtpClient.signIn({ port: portOf(addresses.submission) }, login)
  const { accepted, reply } = await client.send({ from: author, to: [recipient], content: letter(id, recipient) })
  await client.quit()
  if (!accepted) throw new Error(reply.lines.join(' '))
}

const portOf = (address: string): number => Number(address.split(':').at(-1))

const bounce = (recipient: string): Buffer =>
  Buffer.from(
    [
      'From: MAILER-DAEMON@mx.peer.test',
      'Subject: Undelivered Mail Returned to Sender',
      'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
      '',
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.peer.test',
      '',
      `Final-Recipient: rfc822; ${recipient}`,
      'Action: failed',
      'Status: 5.2.2',
      'Remote-MTA: dns; store.peer.test',
      'Diagnostic-Code: smtp; 552 5.2.2 mailbox full',
      '',
      '--b--',
      '',
    ].join('\r\n'),
  )

async function world(t: ExecutionContext) {
  const double = await new VendorDouble(sendgridRules, 'http').listen()
  const refusing = await Sink.listen({ script: { recipient: (to) => phrases[to] } })
  const others = [double, refusing]
  t.teardown(async () => {
    for (const other of others) await other[Symbol.asyncDispose]()
  })
  const env = {
    POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32',
    POSTERN_DELIVERY_MAX_AGE_HOURS: '1',
    POSTERN_INBOUND_DOMAIN: 'bounces.example.ch',
    POSTERN_SMTP_HOST: 'relay.example.ch',
  }
  const first = await startDaemon(t, { env })
  const system = await makeDestination(first.rest, { name: 'System', port: refusing.port, mode: 'live' })
  await first.stop()
  const daemon = await first.again({ env: { ...env, POSTERN_SYSTEM_DESTINATION: system, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' } })
  const { rest } = daemon
  const login = (id: string, more = {}) => makeLogin(rest, id, { allowed_from_domains: ['example.ch'], ...more })
  const http = await rest.must('POST', '/v1/destinations', {
    ...{ name: 'SendGrid', provider: 'sendgrid', credentials: { ...sendgridRules.credentials, base_url: double.origin } },
  })
  await rest.must('POST', `/v1/destinations/${String(http['id'])}/promote-to-live`)
  const dead = await makeDestination(rest, { name: 'Dead', port: await closedPort(t), mode: 'live' })
  return {
    ...{ daemon, double, refusing },
    logins: {
      ...{ smtp: await login(system), verp: await login(system, { verp_enabled: true }) },
      ...{ http: await login(String(http['id'])), dead: await login(dead) },
    } satisfies Logins,
  }
}

/** Each received notice with the results of both parsers. */
async function assertRead(t: ExecutionContext, notices: Sink['deliveries']): Promise<void> {
  const contents = notices.map(({ content }) => Buffer.from(content))
  const pythons = await readByPython(contents)
  for (const { id, recipient = 'gone@example.net', status, diagnostic, remoteMta, reason } of cases) {
    const at = contents.findIndex((content) => content.includes(`<${id}@example.ch>`))
    const [content, python] = [contents[at], pythons[at]]
    if (!content || !python) throw new Error(`${id} has no notice`)
    const { kind, events } = readReport(content)
    t.is(kind, 'dsn', id)
    t.is(events.length, 1, id)
    t.like(
      events[0],
      { recipient, status, action: 'failed', type: 'bounced', remoteMta: remoteMta ?? null, reportingMta: 'relay.example.ch' },
      id,
    )
    t.deepEqual(events[0]?.clues.messageIds, [`<${id}@example.ch>`], id)
    t.deepEqual(python.defects, [], id)
    t.deepEqual(python.structure, ['multipart/report', 'text/plain', 'message/delivery-status', 'text/rfc822-headers'])
    t.like(python.fields, { 'in-reply-to': `<${id}@example.ch>`, 'auto-submitted': 'auto-replied' }, id)
    const [ofMessage, ofRecipient, ...more] = python.statuses
    t.is(more.length, 0, id)
    t.is(ofMessage?.['reporting-mta'], 'dns; relay.example.ch', id)
    t.like(ofRecipient, { 'final-recipient': `rfc822; ${recipient}`, action: 'failed', status }, id)
    t.is(ofRecipient?.['diagnostic-code'], diagnostic, id)
    t.is(ofRecipient?.['remote-mta'], remoteMta && `dns; ${remoteMta}`, id)
    const text = python.parts[0]?.octets.toString() ?? ''
    t.regex(text, reason, id)
    t.notRegex(text, /wrong time/, id)
    const header = python.parts.at(-1)?.octets.toString() ?? ''
    t.true(header.includes(`Message-ID: <${id}@example.ch>\r\n`), header)
  }
  t.is(notices.length, cases.length)
}

const host = '127.0.0.1'
const { permanent, transient } = sendgridRules.refusals

const cases: readonly Case[] = [
  {
    login: 'smtp',
    id: 'refused',
    reason: /mailbox does not exist/,
    status: '5.1.1',
    diagnostic: 'smtp; 550 5.1.1 no such user',
    remoteMta: host,
  },
  {
    login: 'smtp',
    id: 'plain',
    recipient: 'plain@example.net',
    reason: /refused the transaction/,
    status: '5.0.0',
    diagnostic: `smtp; ${phrases['plain@example.net']}`,
    remoteMta: host,
  },
  {
    login: 'smtp',
    id: 'bytes',
    recipient: 'bytes@example.net',
    reason: /mailbox does not exist/,
    status: '5.1.1',
    diagnostic: 'smtp; 550 5.1.1 Postfach unbekannt: Gr?e (voll) \\ "x"',
    remoteMta: host,
  },
  {
    login: 'smtp',
    id: 'long',
    recipient: longAddress,
    reason: /never takes mail/,
    status: '5.1.10',
    diagnostic: `smtp; ${phrases[longAddress]}`,
    remoteMta: host,
  },
  {
    login: 'smtp',
    id: 'expired',
    recipient: 'busy@example.net',
    reason: /No server accepted the message in time\. Greylisting/,
    status: '4.7.1',
    diagnostic: `smtp; ${phrases['busy@example.net']}`,
    remoteMta: host,
  },
  { login: 'dead', id: 'unreached', reason: /refused the connection/, status: '5.4.7' },
  {
    login: 'verp',
    id: 'bounced',
    recipient: 'full@example.net',
    reason: /mailbox is full/,
    status: '5.2.2',
    diagnostic: 'smtp; 552 5.2.2 mailbox full',
    remoteMta: 'store.peer.test',
  },
  {
    login: 'http',
    id: 'http-refused',
    recipient: 'unfit@example.net',
    reason: /mailbox does not exist/,
    status: '5.0.0',
    diagnostic: `x-http; 400 ${JSON.stringify(permanent.body)}`,
    remoteMta: host,
  },
  {
    login: 'http',
    id: 'http-expired',
    recipient: 'waits@example.net',
    reason: /No server accepted the message in time/,
    status: '4.0.0',
    diagnostic: `x-http; 503 ${JSON.stringify(transient.body)}`,
    remoteMta: host,
  },
]

withPython('a notice about a refusal, an expiry and a bounce names recipient, action, status and message to every reader', async (t) => {
  const { daemon, double, refusing, logins } = await world(t)
  double.unfit = ({ recipients }) => recipients.includes('unfit@example.net')
  double.mood = transient
  for (const one of cases) await sendBySmtp(daemon, logins[one.login], one)
  await daemon.settled()
  const sent = refusing.deliveries.find(({ to }) => to.includes('full@example.net'))
  const mx = await SmtpClient.connect({ port: portOf(daemon.addresses.mx) })
  t.true((await mx.send({ from: '', to: [sent?.from ?? ''], content: bounce('full@example.net') })).accepted)
  await mx.quit()
  await daemon.pass(giveUp)
  const notices = refusing.deliveries.filter(({ to }) => to.includes(author))
  await assertRead(t, notices)
})
