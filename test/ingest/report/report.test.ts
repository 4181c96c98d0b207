/** Reports with fields: statuses, clues, complaints, receipts, replies, and the keys of events. */
import test from '#test'
import type { FeedbackEvent, ReportReading } from '#core/feedback/event.ts'
import { readReport } from '#ingest/report/report.ts'
import { octetsOf } from './report-fixtures.ts'
import { column } from '../../support/column.ts'

const read = (mail: string): ReportReading => readReport(Buffer.from(mail))
const sole = (mail: string): FeedbackEvent | undefined => read(mail).events[0]

const header =
  'Return-Path: <>\nFrom: MAILER-DAEMON@mx.example.net\nTo: <b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com>\nMessage-ID: <r1@mx.example.net>\n'
const returned =
  'Return-Path: <b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com>\nX-Service-Ref: 0123456789\nMessage-ID: <orig@example.com>\nTo: a@example.net\n'

/** A delivery status notification with these fields after this text. */
const dsn = (fields: string, text = 'Your message did not arrive.\n', inside = returned): string =>
  `${header}Subject: Undelivered Mail Returned to Sender\nDate: Fri, 21 Aug 2026 12:16:40 +0200\n` +
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b/1"\n\n' +
  `--b/1\n\n${text}\n--b/1\nContent-Type: message/delivery-status\n\n${fields}\n--b/1\nContent-Type: message/rfc822\n\n${inside}\n--b/1--\n`

const complaint = (fields: string, inside = returned): string =>
  `${header}Subject: complaint\nDate: Fri, 21 Aug 2026 12:16:40 +0200\n` +
  'Content-Type: multipart/report; report-type=feedback-report; boundary=f\n\n' +
  `--f\n\nA complaint.\n--f\nContent-Type: message/feedback-report\n\n${fields}\n--f\nContent-Type: message/rfc822\n\n${inside}\n--f--\n`

test('DSN: reads all facts of a Postfix notification', (t) => {
  const fields = [
    'Reporting-MTA: dns; mail.example.org',
    'X-Postfix-Queue-ID: 4cYt3r0ABCz9sX',
    'X-Postfix-Sender: rfc822; b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com',
    'Original-Envelope-Id: env-1',
    '',
    'Final-Recipient: rfc822; a@example.net',
    'Original-Recipient: rfc822;alias@example.com',
    'Action: failed',
    'Status: 5.1.1',
    'Remote-MTA: dns; mx.example.net',
    'Diagnostic-Code: smtp; 550 5.1.1 <a@example.net>: Recipient address',
    '    rejected: User unknown',
    'Last-Attempt-Date: Fri, 21 Aug 2026 12:15:00 +0200',
  ]
  const event = sole(dsn(fields.join('\n')))
  t.like(event, {
    ...{ format: 'dsn', type: 'bounced', occurredAt: Date.UTC(2026, 7, 21, 10, 15), recipient: 'a@example.net' },
    ...{ originalRecipient: 'alias@example.com', action: 'failed', status: '5.1.1', smtpCode: 550, isStructured: true },
    diagnostic: '550 5.1.1 <a@example.net>: Recipient address rejected: User unknown',
    ...{ remoteMta: 'mx.example.net', remoteIp: null, reportingMta: 'mail.example.org', feedbackType: null },
  })
  t.deepEqual(event?.clues, {
    returnPaths: ['b1mzxw6ytb0j3tqnjv8k2d@bounce.example.com'],
    references: ['0123456789'],
    envelopeIds: ['env-1'],
    messageIds: ['<orig@example.com>'],
    queueIds: ['4cYt3r0ABCz9sX'],
    originalTo: ['a@example.net'],
  })
  t.regex(event?.key ?? '', /^[0-9a-f]{64}$/)
})

test('DSN: each group is an event, and a repeated recipient counts once', (t) => {
  const group = (address: string): string => `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: 5.1.1\n\n`
  const { events } = read(dsn(`Reporting-MTA: dns; x\n\n${group('a@example.net')}${group('b@example.net')}${group('A@example.net')}`))
  t.deepEqual(column(events, 'recipient'), ['a@example.net', 'b@example.net'])
  t.not(events[0]?.key, events[1]?.key)
})

test('DSN: per-message and per-recipient fields may share a group', (t) => {
  const [event] = readReport(octetsOf('made/dovecot-quota-dsn.eml')).events
  t.like(event, { type: 'bounced', recipient: 'full@example.net', status: '5.2.2', isStructured: true, reportingMta: 'mx1.example.net' })
})

test('DSN: a vague status yields to the diagnostic, then to the text', (t) => {
  const told = (status: string, diagnostic: string, text?: string): string | null | undefined =>
    sole(dsn(`Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: ${status}\n${diagnostic}`, text))?.status
  t.is(told('5.0.0', 'Diagnostic-Code: smtp; 550 5.7.1 no reverse name'), '5.7.1')
  t.is(told('5.5.0', 'Diagnostic-Code: smtp; 550 5.7.1 no reverse name'), '5.7.1', 'digits of the code written as a status')
  t.is(told('5.5.0', 'Diagnostic-Code: smtp; 550 no'), '5.5.0')
  t.is(told('5.0.0', '', '<a@example.net>:\n550 5.1.1 nobody here\n'), '5.1.1')
  t.is(told('4.0.0', '', '<a@example.net>:\n550 5.1.1 nobody here\n'), '4.0.0', 'of another class')
  // Sendmail derives its code from the reply; the code in the reply is the refusing server's
  t.is(told('5.1.1', 'Diagnostic-Code: smtp; 552 5.2.2 x'), '5.2.2')
  t.is(told('5.1.1', 'Diagnostic-Code: smtp; 550 5.1.0 x'), '5.1.1')
  t.is(told('4.4.7', 'Diagnostic-Code: smtp; 452 4.2.2 x'), '4.4.7')
  t.is(told('', 'Diagnostic-Code: smtp; 452 too many'), '4.0.0')
})

test('DSN: the action takes precedence over the class of the status', (t) => {
  const type = (action: string, status: string): string | undefined =>
    sole(dsn(`Final-Recipient: rfc822; a@example.net\n${action}\nStatus: ${status}\n`))?.type
  t.is(type('Action: failed', '4.4.7'), 'bounced')
  t.is(type('Action: delayed', '5.0.0'), 'deferred')
  t.is(type('Action: delivered (to mailbox)', '2.1.5'), 'delivered')
  t.is(type('Action: relayed', '2.0.0'), 'delivered')
  t.is(type('Action: expanded', '2.0.0'), 'delivered')
  t.is(type('Action: undeliverable', '5.1.1'), 'bounced')
  t.is(type('', '2.0.0'), 'delivered')
})

test('DSN: accepts many forms of a recipient', (t) => {
  const recipient = (value: string): string | null | undefined =>
    sole(dsn(`Final-Recipient: ${value}\nAction: failed\nStatus: 5.1.1\n`, 'No.\n', ''))?.recipient
  for (const value of [
    'rfc822;a@example.net',
    'RFC822; <a@example.net>',
    'rfc/822;a@example.net',
    'a@example.net',
    'rfc822; a@example.net (A)',
  ])
    t.is(recipient(value), 'a@example.net', value)
  t.is(recipient('utf-8; ämäil@exämple.net'), 'ämäil@exämple.net')
  t.is(recipient('rfc822;|/bin/filter a@example.net'), null)
})

test('readReport() ignores a report inside the returned message', (t) => {
  const inside = `Content-Type: multipart/report; boundary=c\n\n--c\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; inner@example.net\nAction: failed\nStatus: 5.1.1\n--c--\n`
  const { events } = read(dsn('Final-Recipient: rfc822; outer@example.net\nAction: failed\nStatus: 5.2.2\n', 'No.\n', inside))
  t.deepEqual(column(events, 'recipient'), ['outer@example.net'])
  const text = `${header}Subject: failure notice\n\n<outer@example.net>:\nNo such user. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nFrom: s@example.com\n\n<inner@example.net>:\n550 5.1.1 no\n`
  t.deepEqual(column(read(text).events, 'recipient'), ['outer@example.net'])
})

test('DSN: reads fields in broken MIME', (t) => {
  const mail = dsn('Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: 5.1.1\n')
  t.is(sole(mail.replace('; boundary="b/1"', ''))?.recipient, 'a@example.net', 'no boundary told')
  t.is(sole(mail.slice(0, mail.indexOf('--b/1\nContent-Type: message/rfc822')))?.recipient, 'a@example.net', 'no end')
  const encoded = Buffer.from('Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: 5.1.1\n').toString('base64')
  for (const name of ['base64', '"base64"', 'BASE64;', 'base64 (as ever)']) {
    const packed = dsn(encoded).replace('message/delivery-status\n', `message/delivery-status\nContent-Transfer-Encoding: ${name}\n`)
    t.like(sole(packed), { recipient: 'a@example.net', status: '5.1.1', isStructured: true }, name)
  }
})

test('DSN: reads fields in text as unstructured', (t) => {
  const text = `${header}Subject: Returned mail: see transcript for details\n\nThe original message was received.\n\nReporting-MTA: dns; x\n\nFinal-Recipient: RFC822; a@example.net\nAction: failed\nStatus: 5.1.1\n`
  t.like(sole(text), { recipient: 'a@example.net', status: '5.1.1', type: 'bounced', isStructured: false })
  const letter = text
    .replace(/^Return-Path.*\nFrom.*\n/, 'From: friend@example.com\n')
    .replace('Returned mail: see transcript for details', 'Look at this')
  t.deepEqual(read(letter), { kind: 'none', events: [] })
})

test('complaint: has recipient, type and return path', (t) => {
  const fields =
    'Feedback-Type: Abuse \nUser-Agent: Yahoo!-Mail-Feedback/2.0\nVersion: 0.1\nOriginal-Mail-From: <v@bounce.example.com>\nOriginal-Rcpt-To: a@example.net\nReceived-Date: Fri, 21 Aug 2026 09:00:00 +0000\n'
  const { kind, events } = read(complaint(fields))
  t.is(kind, 'feedback')
  t.like(events[0], {
    ...{ format: 'arf', type: 'complained', action: 'complaint', recipient: 'a@example.net', feedbackType: 'abuse' },
    ...{ isStructured: true, occurredAt: Date.UTC(2026, 7, 21, 9) },
  })
  t.is(events[0]?.clues.returnPaths[0], 'v@bounce.example.com')
})

test('complaint: several recipients give several events', (t) => {
  const several = Array.from({ length: 21 }, (_, at) => `Original-Rcpt-To: <r${at}@example.net>\n`).join('')
  t.is(read(complaint(`Feedback-Type: abuse\nUser-Agent: x\nVersion: 1\n${several}`)).events.length, 21)
})

test('complaint: ignores other feedback types; unknown types are complaints', (t) => {
  const type = (feedbackType: string): string | undefined =>
    sole(complaint(`Feedback-Type: ${feedbackType}\nUser-Agent: x\nVersion: 1\n`))?.type
  t.deepEqual(['not-spam', 'auth-failure', 'xarf'].map(type), ['ignored', 'ignored', 'ignored'])
  t.deepEqual(['fraud', 'virus', 'other', 'spam', 'opt-out'].map(type), Array(5).fill('complained'))
})

test('complaint: a redacted recipient is null', (t) => {
  const hidden = returned.replace('To: a@', 'To: redacted@')
  t.is(
    sole(complaint('Feedback-Type: abuse\nUser-Agent: x\nVersion: 1\nOriginal-Rcpt-To: 0123456789abcdef0123456789abcdef\n', hidden))
      ?.recipient,
    null,
  )
})

test('complaint: recognizes reports of Hotmail and Apple without fields', (t) => {
  const hotmail = `From: staff@hotmail.com\nTo: fbl@example.com\nSubject: complaint about message from 192.0.2.1\nContent-Type: multipart/mixed; boundary=h\n\n--h\nContent-Type: message/rfc822\n\nX-HmXmrOriginalRecipient: a@example.net\n${returned}\n--h--\n`
  t.like(sole(hotmail), { type: 'complained', recipient: 'a@example.net', feedbackType: 'abuse', isStructured: false })
  const apple =
    'From: A <a@example.net>\nTo: unsubscribe@example.com\nSubject: unsubscribe\nX-Apple-Unsubscribe: true\nAuto-Submitted: auto-replied\n\nPlease.\n'
  t.like(read(apple), { kind: 'feedback' })
  t.like(sole(apple), { type: 'complained', recipient: 'a@example.net', feedbackType: 'opt-out' })
})

test("MDN: a filter's refusal is a bounce, a deletion is not", (t) => {
  const rejected = readReport(octetsOf('made/dovecot-sieve-reject-mdn.eml'))
  t.is(rejected.kind, 'mdn')
  t.like(rejected.events[0], { type: 'bounced', recipient: 'full@example.net', status: '5.7.1', isStructured: false })
  const text = octetsOf('made/dovecot-sieve-reject-mdn.eml').toString()
  const deleted = text.replaceAll(/Rejected: |auto-replied \(rejected\)|was automatically rejected/g, '')
  t.deepEqual(read(deleted), { kind: 'mdn', events: [] })
  t.deepEqual(read(text.replace('; deleted', '; displayed')), { kind: 'mdn', events: [] })
})

test('readReport() recognizes automatic replies that talk about delivery', (t) => {
  const away =
    'Return-Path: <>\nFrom: a@example.net\nTo: s@example.com\nSubject: Automatic reply: Order\nAuto-Submitted: auto-replied\n\nI could not be reached; write to b@example.net. Mail failed before: 550 5.1.1\n'
  t.deepEqual(read(away), { kind: 'auto_reply', events: [] })
  t.deepEqual(read(away.replace('Automatic reply', 'Undeliverable')), { kind: 'auto_reply', events: [] })
})

test('readReport() treats a notice about a parcel as ordinary mail', (t) => {
  const parcel =
    'From: shop@example.com\nTo: a@example.net\nSubject: Your delivery failed\n\nWe were unable to deliver your parcel. Contact help@example.com.\n'
  t.deepEqual(read(parcel), { kind: 'none', events: [] })
})

test('readReport() reads notices of SES via SNS', (t) => {
  const notice = (kind: string, told: object): string =>
    `From: no-reply@sns.amazonaws.com\nSubject: AWS Notification Message\n\n${JSON.stringify({
      notificationType: kind,
      [kind.toLowerCase()]: told,
      mail: {
        source: 'v@bounce.example.com',
        messageId: 'ses-1',
        destination: ['a@example.net'],
        headers: [{ name: 'X-Service-Ref', value: 'ref' }],
      },
    })}\n`
  const complained = read(
    notice('Complaint', { complainedRecipients: [{ emailAddress: 'a@example.net' }], complaintFeedbackType: 'abuse' }),
  )
  t.is(complained.kind, 'feedback')
  t.like(complained.events[0], { type: 'complained', recipient: 'a@example.net' })
  const bounced = sole(notice('Bounce', { bounceType: 'Transient', bouncedRecipients: [{ emailAddress: 'a@example.net' }] }))
  t.like(bounced, { type: 'bounced', status: '4.0.0', isStructured: false })
  t.deepEqual(bounced?.clues.references, ['ref'])
  t.deepEqual(bounced?.clues.returnPaths[0], 'v@bounce.example.com')
})

test('readReport() decodes UTF-7 and ISO-2022-JP', (t) => {
  const utf7 = `${header}Subject: Undeliverable: x\nContent-Type: text/plain; charset=utf-7\n\nThe following recipient(s) could not be reached:\n\n      a+AEA-example.net on 4/29/01\n        +ACM-5.1.1\n`
  t.like(sole(utf7), { recipient: 'a@example.net', status: '5.1.1' })
  const kanji = Buffer.from('1b244224333648241b2842', 'hex').toString('latin1')
  const japanese = Buffer.from(
    `${header}Subject: failure notice\nContent-Type: text/plain; charset=iso-2022-jp\n\n${kanji}\na@example.net\n\n550 5.1.1 no\n`,
    'latin1',
  )
  t.like(readReport(japanese).events[0], { recipient: 'a@example.net', status: '5.1.1' })
})

test('DSN: finds the refusing host in Remote-MTA, else in the text', (t) => {
  const host = (fields: string): unknown => {
    const { remoteMta, remoteIp } = sole(dsn(`Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: 5.1.1\n${fields}\n`)) ?? {}
    return [remoteMta, remoteIp]
  }
  t.deepEqual(host('Remote-MTA: dns; mx.example.net. (192.0.2.7, the server for the domain example.net.)'), ['mx.example.net', '192.0.2.7'])
  t.deepEqual(host('Remote-MTA: dns;mx.example.net (TCP|192.0.2.1|47323|192.0.2.9|25)'), ['mx.example.net', '192.0.2.9'])
  t.deepEqual(host('Remote-MTA: 2001:db8::1'), ['2001:db8::1', '2001:db8::1'])
  t.deepEqual(host('Diagnostic-Code: X-Postfix; host mx.example.net[192.0.2.7] said: 550 no'), ['mx.example.net', '192.0.2.7'])
})

test('readReport() reads HTML if there is no plain text', (t) => {
  const html = `${header}Subject: Undeliverable: x\nContent-Type: text/html; charset=utf-8\n\n<html><body><p>Delivery has failed to these recipients:</p><p><a href="mailto:a@example.net">a@example.net</a><br>550 5.1.10 not found</p></body></html>\n`
  t.like(sole(html), { recipient: 'a@example.net', status: '5.1.10' })
})

test('readReport(): a key depends on the report, not on its delivery', (t) => {
  const mail = dsn('Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: 5.1.1\n')
  const key = sole(mail)?.key
  t.is(sole(`Delivered-To: box@example.com\nReceived: by example.com; Sat, 22 Aug 2026 00:00:00 +0000\n${mail}`)?.key, key)
  t.not(sole(mail.replace('<r1@', '<r2@'))?.key, key, 'another report')
  t.not(sole(mail.replace('Action: failed', 'Action: delayed'))?.key, key, 'another outcome')
})

test('readReport() returns none for empty input and other octets', (t) => {
  for (const mail of ['', '\n', '\r\n\r\n', '\0\0\0', 'no header', ':'])
    t.deepEqual(read(mail), { kind: 'none', events: [] }, JSON.stringify(mail))
})
