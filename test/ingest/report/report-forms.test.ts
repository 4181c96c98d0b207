/** Notices without a machine-readable part, one for each program: recipients, diagnostic, and whether the failure is final. */
import test from '#test'
import { readReport } from '#ingest/report/report.ts'
import { octetsOf } from './report-fixtures.ts'

/** Recipient, status (its class if it has no detail), action, and the refusing host if the notice contains it. */
type Fact = readonly [recipient: string | null, status: string, action: string, host?: string]

const forms: Readonly<Record<string, readonly Fact[]>> = {
  activehunter: [['somebody@example.co.jp', '5.1.1', 'failed']],
  apachejames: [['somebody@example.org', '5', 'failed']],
  biglobe: [['somebody@isp.example', '5', 'failed']],
  einsundeins: [['general@example.eu', '5.1.1', 'failed', 'mx.example.eu']],
  mailfoundry: [['somebody@example.org', '5', 'failed', 'mx22.example.org']],
  mailmarshal: [['somebody@example.edu', '5.1.1', 'failed']],
  'domino-text': [['somebody@example.net', '5', 'failed']],
  'messagingserver-text': [['somebody@example.jp', '5.1.1', 'failed']],
  exchange2007: [['somebody@example.jp', '5.1.1', 'failed']],
  exchange2003: [['somebody@example.co.jp', '5.1.1', 'failed']],
  hmailserver: [['bar@example.net', '5.1.1', 'failed', '192.0.2.77']],
  communigate: [['joe@example.net', '5.7.1', 'failed', 'mx.example.net']],
  groupwise: [['joe@example.net', '5.1.1', 'failed']],
  ironport: [['joe@example.net', '5.1.1', 'failed']],
  mdaemon: [['joe@example.net', '5.1.1', 'failed']],
  'qmail-multi': [
    ['a@example.net', '5.1.1', 'failed'],
    ['b@example.org', '5.7.1', 'failed'],
    ['c@example.org', '4.4.2', 'failed', '192.0.2.9'],
  ],
  'zoho-b': [['somebody@mail.example.co.jp', '4', 'failed']],
  ezweb: [['somebody@phone.example', '5', 'failed']],
  verizon: [['0000000000@phone.example', '5', 'failed']],
  mxlogic: [['somebody@example.co.jp', '5.1.1', 'failed', 'mx7.example.jp']],
  'sendmail8-text': [['somebody@example.org', '5.1.1', 'failed', 'mx.example.org']],
  'sendmail-warning': [['somebody@example.org', '4', 'delayed']],
  'gmail-new-text': [['nobody@example.net', '5.1.1', 'failed']],
  'aol-text': [[null, '5', 'failed']],
  orange: [['someone@example.fr', '5.5.0', 'failed']],
  german: [['hans@example.de', '5.1.1', 'failed']],
  haraka: [['a@example.net', '5.1.1', 'failed']],
  'exim-delay-2': [['a@example.net', '4', 'delayed']],
  'exim-multi': [
    ['a@example.net', '5', 'failed'],
    ['b@example.org', '5.1.1', 'failed', 'mx.example.org'],
    ['c@example.com', '4.4.7', 'failed'],
  ],
  'mailenable-ndr': [[null, '5', 'failed']],
}

for (const [name, facts] of Object.entries(forms)) {
  test(`prose: parses the notice of ${name}`, (t) => {
    const { kind, events } = readReport(octetsOf(`made/${name}.eml`))
    t.is(kind, 'dsn')
    const read = events.map(({ recipient, status, action, remoteMta }, at) => [
      recipient,
      facts[at]?.[1].length === 1 ? status?.charAt(0) : status,
      action,
      ...(facts[at]?.[3] === undefined ? [] : [remoteMta]),
    ])
    t.deepEqual(
      read,
      facts.map((fact) => [...fact]),
    )
    t.true(events.every(({ isStructured }) => !isStructured))
  })
}

test('prose: the diagnostic is the reply of the refusing server', (t) => {
  const text = (name: string): string | null | undefined => readReport(octetsOf(`made/${name}.eml`)).events.at(-1)?.diagnostic
  t.is(text('groupwise'), '(550 5.1.1 User unknown)')
  t.is(text('gmail-new-text'), '550 5.1.1 The email account that you tried to reach does not exist.')
  t.regex(text('mailenable-ndr') ?? '', /^554-mail\.example\.org 554 Your access to this mail system has been rejected/)
})

test('prose: returns the reply code with the status', (t) => {
  const code = (name: string): number | null | undefined => readReport(octetsOf(`made/${name}.eml`)).events[0]?.smtpCode
  t.deepEqual(['mailenable-ndr', 'apachejames', 'mailfoundry', 'zoho-b'].map(code), [554, 550, 550, 421])
})

test('prose: returns the original recipient of a rewritten address', (t) => {
  const [first] = readReport(octetsOf('made/sendmail8-text.eml')).events
  t.is(first?.originalRecipient, 'alias@example.com')
  t.is(readReport(octetsOf('made/exim-multi.eml')).events[2]?.originalRecipient, 'd@example.com')
})
