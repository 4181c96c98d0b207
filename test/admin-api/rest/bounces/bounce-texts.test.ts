/** Classification of bounces by the reply text of the refusing server, in every field of a posted report and with any status code. */
import test from '#test'
import { startFixture } from '../fixture/rest-fixture.ts'
import { bouncedWith } from './bounce-reports.ts'

/** Status and reply text of a report, and the expected classification. */
const meanings: readonly (readonly [status: string, diagnostic: string, bounce: string, category: string])[] = [
  ['5.0.0', 'smtp; 550 Your message was identified as spam by our filter', 'block', 'content'],
  ['5.1.1', 'smtp; 550 Your message was identified as spam by our filter', 'block', 'content'],
  ['5.0.0', 'smtp; 551 This message looks like spam', 'block', 'content'],
  ['5.9.8', 'smtp; 553 5.9.8 Spam', 'block', 'content'],
  ['5.0.0', 'smtp; 553 Sender Policy Framework (SPF) fail', 'block', 'authentication'],
  ['5.7.0', 'x-unix; The recipient mailbox has exceeded its disk space limit.', 'soft', 'mailbox_full'],
  ['5.1.1', 'smtp; 550 Benutzer hat zuviele Mails auf dem Server.', 'soft', 'mailbox_full'],
  ['5.0.0', 'smtp; 551 <kim@example.net> is a deactivated mailbox', 'hard', 'mailbox_disabled'],
  ['5.0.0', 'smtp; 550 This account has been disabled or discontinued', 'hard', 'mailbox_disabled'],
  ['5.1.1', 'smtp; 550 Mailbox currently suspended', 'soft', 'mailbox_disabled'],
]

test('spam refusals, full and disabled mailboxes are classified by reply text with any code', async (t) => {
  const fixture = await startFixture(t)
  for (const [status, diagnostic, bounce, category] of meanings) {
    const seen = await bouncedWith(fixture, ['Action: failed', `Status: ${status}`, `Diagnostic-Code: ${diagnostic}`])
    t.like(seen, { found: true, bounce, category }, `${status} ${diagnostic}`)
  }
})

test('a reply of the refusing server in an extension field is used too', async (t) => {
  const fixture = await startFixture(t)
  const status = ['Action: failed', 'Status: 5.1.1']
  const full = '<mx.example.net #5.2.2 smtp;552-5.2.2 The mailbox is full\r\n 552 5.2.2 (in reply to RCPT TO)>'
  const supplementary = await bouncedWith(fixture, [...status, `X-Supplementary-Info: ${full}`])
  t.like(supplementary, { bounce: 'soft', category: 'mailbox_full', reply: { code: 552, enhanced: '5.2.2' } })
  const local = 'Diagnostic-Code: x-relay; delivery to the next host failed'
  const answered = await bouncedWith(fixture, [...status, local, 'X-Remote-Reply: 550 Message rejected as spam'])
  t.like(answered, { bounce: 'block', category: 'content', reply: { code: 550, text: '550 Message rejected as spam' } })
  const named = await bouncedWith(fixture, [...status, local, 'X-Display-Name: 550 Main Street'])
  t.like(named, { bounce: 'hard', category: 'recipient_unknown', reply: { code: null } })
})

test('an unreachable server is classified by the text of the program that gave up', async (t) => {
  const fixture = await startFixture(t)
  const gaveUp: readonly (readonly [sentence: string, status: string])[] = [
    ['connect to mx.example.net[192.0.2.5]:25: Connection refused', '4.4.1'],
    ['Connection timed out', '4.4.1'],
    ['lost connection with mx.example.net while sending the message', '4.4.2'],
    ['delivery time exceeded', '4.4.7'],
    ['the number of attempts was exhausted: delivery attempts exhausted', '4.4.7'],
    ['retry timeout exceeded: connection refused', '4.4.7'],
  ]
  for (const [sentence, enhanced] of gaveUp) {
    const seen = await bouncedWith(fixture, ['Action: failed', `Diagnostic-Code: x-relay; ${sentence}`])
    t.like(seen, { bounce: 'soft', reply: { code: null, enhanced, text: sentence } })
  }
  t.like(await bouncedWith(fixture, ['Action: failed', 'Diagnostic-Code: smtp; 550 connection refused by policy']), {
    reply: { code: 550, enhanced: '5.0.0' },
  })
})

test('a status of the reporting program alone is no hard bounce if the host was down', async (t) => {
  const fixture = await startFixture(t)
  const reports: readonly (readonly [status: string, sentence: string, enhanced: string, category: string])[] = [
    ['5.0.0', 'delivery time expired', '4.4.7', 'expired'],
    ['5.0.0', 'connect to mx.example.net[192.0.2.5]:25: Connection refused', '4.4.1', 'network'],
    ['5.0.0', 'lost connection with mx.example.net while sending the message', '4.4.2', 'network'],
    ['5.5.0', 'Connection timed out', '4.4.1', 'network'],
    ['5.1.1', 'Connection refused', '4.4.1', 'network'],
    ['5.4.4', 'no route to host', '4.4.1', 'network'],
    ['5.4.7', 'delivery time expired', '5.4.7', 'expired'],
    ['5.0.0', 'mailbox is full: retry timeout exceeded', '5.0.0', 'mailbox_full'],
    ['5.1.2', 'Host not found', '5.1.2', 'domain'],
  ]
  for (const [status, sentence, enhanced, category] of reports) {
    const seen = await bouncedWith(fixture, ['Action: failed', `Status: ${status}`, `Diagnostic-Code: x-relay; ${sentence}`])
    t.like(seen, { bounce: category === 'domain' ? 'hard' : 'soft', category, reply: { code: null, enhanced } }, `${status} ${sentence}`)
  }
  const inProse = await bouncedWith(fixture, ['Action: failed', 'Status: 5.0.0'], '<kim@example.net>:\r\ndelivery time expired\r\n')
  t.like(inProse, { bounce: 'soft', category: 'expired', reply: { enhanced: '4.4.7' } })
  const refused = await bouncedWith(fixture, [
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 connection refused: no such user',
  ])
  t.like(refused, { bounce: 'hard', category: 'recipient_unknown', reply: { code: 550, enhanced: '5.1.1' } })
})

test('fields in the text of a notice are not used as the reply of a server', async (t) => {
  const fixture = await startFixture(t)
  const text = ['kim@example.net', 'Status: 4.4.7', 'Remote-MTA: DNS; [192.0.2.5]', 'Last-Attempt-Date: Sat, 9 Jun 2018 03:06:57 +0900']
  const seen = await bouncedWith(fixture, ['Action: failed', 'Status: 4.4.7'], [...text, '', 'Deferred: no answer.'].join('\r\n'))
  t.like(seen, { bounce: 'soft', reply: { enhanced: '4.4.7', text: 'kim@example.net Deferred: no answer.' } })
})
