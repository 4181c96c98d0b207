/** Replies that request fewer messages, and similar replies that do not. */
import test from '#test'
import { isThrottling, throttlingNoted } from '#core/delivery/attempt/throttling.ts'
import type { AttemptReport, PeerReply } from '#core/delivery/transport.ts'
import { column } from '../../support/column.ts'

/** `421 4.7.0 words`, also with hyphens as in replies of several lines. */
function reply(line: string): PeerReply {
  const [, code = '', enhanced, text = ''] = /^(\d{3})[ -](?:(\d\.\d{1,3}\.\d{1,3}) )?([^]*)$/.exec(line) ?? []
  return { code: Number(code), enhanced, text }
}

const throttling: Readonly<Record<string, readonly string[]>> = {
  'Amazon SES': [
    '454 Throttling failure: Maximum sending rate exceeded.',
    '454 Throttling failure: Daily message quota exceeded.',
    '454 4.7.0 Throttling failure: Maximum sending rate exceeded.',
  ],
  Gmail: [
    '421 4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from your IP address. - gsmtp',
    '421 4.7.0 Try again later, closing connection. (EHLO) - gsmtp',
    '454 4.7.0 Too many login attempts, please try again later. - gsmtp',
    '450 4.4.5 Daily SMTP relay limit exceeded for user. - gsmtp',
    '550 5.4.5 Daily user sending limit exceeded. For more information on Gmail sending limits go to https://support.google.com/a/answer/166852',
    '550 5.4.5 Daily user sending quota exceeded. - gsmtp',
  ],
  'Microsoft 365': [
    '432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded [Hostname=X.PROD.OUTLOOK.COM]',
    '421 4.4.2 Message submission rate for this client has exceeded the configured limit',
    '451 4.7.500 Server busy. Please try again later from [192.0.2.1].',
    '421 4.3.2 The maximum number of concurrent server connections has exceeded a limit, closing transmission channel',
    '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation.',
    '554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed to process message',
    '550 5.2.2 Submission quota exceeded',
    '554 5.2.122 The recipient has exceeded their limit for the number of messages they can receive per hour',
  ],
  Yahoo: ['421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints'],
  SendGrid: [
    '451 Authentication failed: Maximum credits exceeded',
    '452 Too many recipients received this hour',
    '421 Too many concurrent SMTP connections',
  ],
  Mailgun: [
    '421 4.7.0 Domain example.com is not allowed to send: recipient limit exceeded, try again after Wed',
    '450 4.7.1 Rate limited, try again later',
  ],
  Postmark: ['421 4.7.0 Rate limit exceeded, please slow down'],
  Mailtrap: ['550 5.7.0 Too many emails per second. Please upgrade your plan https://mailtrap.io/billing/plans'],
  IONOS: ['450 Requested mail action not taken: mailbox unavailable. Mail send limit exceeded.'],
  OVH: ['421 4.7.1 You have sent too many mails, wait a minute', '452 4.3.1 Hourly limit reached for this account: 200 mails per hour'],
  Infomaniak: ['450 4.7.1 Error: too much mail from 192.0.2.1'],
  cPanel: ['451 Domain example.com has exceeded the max emails per hour (200/200 (100%)) allowed. Message will be reattempted later'],
  Postfix: [
    '421 4.7.0 mx.example.net Error: too many connections from 192.0.2.1',
    '450 4.7.1 <a@b.example>: Sender address rejected: Policyd: sending quota exceeded',
  ],
  Zoho: ['421 4.7.0 Unusual sending activity detected. Please try after sometime.'],
  Free: ['421 Trop de connexions, veuillez verifier votre configuration'],
  'hosters elsewhere': [
    '451 Requested action aborted: This mail account has sent too many messages in a short amount of time. Please try later.',
    '450 too many emails from this sender, please try again later',
  ],
}

const others: readonly string[] = [
  '450 4.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
  '452 4.2.2 The recipient’s inbox is out of storage space. Please direct the recipient to clean up.',
  '452 4.2.2 Mailbox quota exceeded',
  '450 4.2.1 Busy',
  '451 4.7.1 Greylisting in action, you tried again too quickly',
  '450 4.2.0 <a@b.example>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/',
  '451 4.3.0 Temporary lookup failure',
  '452 4.3.1 Insufficient system storage',
  '452 4.5.3 Too many recipients',
  '421 4.3.2 Service shutting down',
  '450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]',
  '421 4.7.29 This email was not sent over a TLS connection. - gsmtp',
  '451 4.4.1 Timeout waiting for the next server',
  '454 4.7.0 TLS not available due to local problem',
  '454 4.7.0 Temporary authentication failure',
  '550 5.1.1 No such user',
  '550 5.7.1 Our system has detected an unusual rate of unsolicited mail originating from your IP address.',
  '552 5.2.2 Mailbox full, quota exceeded',
  '552 5.3.4 Message size limit exceeded',
  '554 5.7.1 Too many emails were reported as spam',
]

for (const [name, lines] of Object.entries(throttling))
  test(`throttling: ${name} requests fewer messages`, (t) => {
    for (const line of lines) t.true(isThrottling(reply(line)), line)
    for (const line of lines)
      t.true(isThrottling({ ...reply(line), text: `${reply(line).text.replaceAll(' ', '\n')}` }), `${line}, in lines`)
  })

test('throttling: excludes recipients, greylisting, reputation, storage and faults', (t) => {
  for (const line of others) t.false(isThrottling(reply(line)), line)
})

const report = (lines: readonly string[]): AttemptReport => ({
  recipients: lines.map((line, i) => {
    const said = reply(line)
    const verdict = said.code < 300 ? 'accepted' : said.code < 500 ? 'transient' : 'permanent'
    return { address: `a${String(i)}@b.example`, verdict, reply: said }
  }),
  ...{ host: 'mail.test', port: 25, reused: false, milliseconds: {} },
})

test('throttling: one deferred recipient marks the report; quotas fail no recipient', (t) => {
  const noted = throttlingNoted(
    report(['250 2.0.0 Ok', '550 5.4.5 Daily user sending limit exceeded.', '550 5.1.1 No such user', '451 4.3.0 Later']),
  )
  t.deepEqual(column(noted.recipients, 'verdict'), ['accepted', 'transient', 'permanent', 'transient'])
  t.like(noted.error, { code: 'provider_rate_limited', class: 'rate_limited' })
  t.regex(noted.error?.message ?? '', /550 Daily user sending limit exceeded/)
  const plain = report(['250 2.0.0 Ok', '550 5.1.1 No such user', '451 4.3.0 Later'])
  t.is(throttlingNoted(plain), plain)
})

test('throttling: a reply of any length is matched quickly', (t) => {
  for (const text of ['too many '.repeat(100_000), 'message '.repeat(100_000), 'exceeded a '.repeat(100_000), 'rate '.repeat(100_000)]) {
    const before = process.threadCpuUsage()
    isThrottling({ code: 451, text })
    const { user, system } = process.threadCpuUsage(before)
    t.true(user + system < 250_000, text.slice(0, 9))
  }
})
