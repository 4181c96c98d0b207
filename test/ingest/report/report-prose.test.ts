/** Failed recipients in notices without fields, and addresses that did not fail: of the report itself, senders, contacts, examples. */
import test from '#test'
import type { FeedbackEvent, ReportReading } from '#core/feedback/event.ts'
import { addressesIn, plainAddress, typedAddress } from '#ingest/report/facts/mail-address.ts'
import { readReport } from '#ingest/report/report.ts'
import { column } from '../../support/column.ts'

const read = (mail: string): ReportReading => readReport(Buffer.from(mail))
const facts = ({ recipient, originalRecipient, action, status }: FeedbackEvent): unknown[] => [
  recipient,
  ...(originalRecipient === null ? [] : [originalRecipient]),
  action,
  status,
]
const told = (mail: string): unknown[] => read(mail).events.map(facts)

const machine = 'Return-Path: <>\nFrom: Mail Delivery System <MAILER-DAEMON@mx.example.net>\nTo: me@example.com\n'
const notice = (text: string, fields = ''): string =>
  `${machine}${fields}Subject: Mail delivery failed\nContent-Type: text/plain; charset=utf-8\n\n${text}\n`
const original = (header = 'From: me@example.com\nTo: ada@example.org\n'): string =>
  `Return-Path: <me@example.com>\n${header}Subject: Hello\n\nHello\n`
/** A text part, and the returned message. */
const multipart = (header: string, text: string, inside: string): string =>
  `${header}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n${text}\n--b\nContent-Type: message/rfc822\n\n${inside}\n--b--\n`

test('prose: X-Failed-Recipients takes precedence over text addressed to the sender', (t) => {
  const listed = 'X-Failed-Recipients: group@groups.example\n'
  t.deepEqual(told(notice('me@example.com 様\n\n連絡しようとしたグループが存在しないか、投稿できませんでした。', listed)), [
    ['group@groups.example', 'failed', '5.0.0'],
  ])
  t.deepEqual(told(notice('me@example.com您好，\n\n您没有在此群組張貼留言的權限，无法投递。', listed)), [
    ['group@groups.example', 'failed', '5.0.0'],
  ])
})

test('prose: the sender named in a text is not a failed recipient', (t) => {
  const text =
    'A message sent by\n\n  <shop@mail.example>\n\ncould not be delivered. The following address failed:\n\n  ada@example.org\n    550 5.1.1 no such user\n'
  const inside = original('From: Shop <shop@mail.example>\nTo: ada@example.org\n').replace('me@example.com', 'shop@mail.example')
  t.deepEqual(told(notice(`${text}\n------ This is a copy of the message ------\n\n${inside}`)), [['ada@example.org', 'failed', '5.1.1']])
  t.deepEqual(told(notice(`${text}\n------ This is a copy of the message ------\n\n${inside}`, 'X-Failed-Recipients: ada@example.org\n')), [
    ['ada@example.org', 'failed', '5.1.1'],
  ])
})

test('prose: a listed address and the reply about its alias are one recipient', (t) => {
  const text = 'The following address failed:\n\n  ada@inside.example\n    host mx.inside.example [192.0.2.1]: 550 5.1.1 no such user\n'
  t.deepEqual(told(notice(text, 'X-Failed-Recipients: ada@example.org\n')), [['ada@inside.example', 'ada@example.org', 'failed', '5.1.1']])
})

test('prose: all X-Failed-Recipients fields count, each address once', (t) => {
  const fields = 'X-Failed-Recipients: a@example.org,\n  b@example.org\nX-Failed-Recipients: c@example.org, A@example.org\n'
  t.deepEqual(column(read(notice('Undeliverable.', fields)).events, 'recipient'), ['a@example.org', 'b@example.org', 'c@example.org'])
})

test("prose: finds Exchange's second recipient below the first one's indented text", (t) => {
  const one = (address: string): string =>
    `${address} on Thu, 29 Apr 2027 16:51:51 -0500\n    The recipient name is not recognized\n\tThe MTS-ID of the original message is: c=jp\n    MSEXCH:IMS:A:B 0 (000C05A6) Unknown Recipient\n`
  const text = `Your message\n\n  To:      me@example.com\n  Subject: Hello\n\ndid not reach the following recipient(s):\n\n${one('ada@example.org')}${one('eva@example.org')}`
  t.deepEqual(column(read(notice(text)).events, 'recipient'), ['ada@example.org', 'eva@example.org'])
  t.deepEqual(
    told(
      notice(
        'did not reach the following recipient(s):\n\nc=US;a= ;p=X;dda:SMTP=ada@example.org; on Fri, 4 Oct 2002\n    Unknown Recipient',
      ),
    ),
    [['ada@example.org', 'failed', '5.0.0']],
  )
})

test('prose: an address ends at punctuation or letters of another script', (t) => {
  const found = (text: string): readonly string[] => addressesIn(text)
  for (const text of [
    'ada@example.jp您好，',
    'メールada@example.jpに',
    '（ada@example.jp）',
    'ada@example.jp。',
    'ada@example.jp，eva',
    '宛先：ada@example.jp様',
  ])
    t.deepEqual(found(text), ['ada@example.jp'], text)
  t.deepEqual(found('宛先：a@b.jp、c@d.jp。'), ['a@b.jp', 'c@d.jp'])
  for (const address of [
    'josé@café.example',
    'почта@пример.рф',
    '张三@例子.中国',
    '张三2008@例子.cn',
    'ada@localhost',
    'a@[192.0.2.1]',
    'a@192.0.2.1',
    'a.b+c@x-y.example',
  ])
    t.deepEqual([found(`<${address}>`), plainAddress(address)], [[address], address])
  t.is(plainAddress('ada@example.jp您好，'), undefined)
  t.is(typedAddress('utf-8; 李abc@例子.中国'), '李abc@例子.中国')
})

test("prose: reads a notice inside a gateway's notice, as unstructured", (t) => {
  const inner = `From: Mail Delivery Subsystem <MAILER-DAEMON@inner.example>\nTo: me@example.com\nSubject: Returned mail\nContent-Type: multipart/report; report-type=delivery-status; boundary=c\n\n--c\n\nThe following addresses failed\n--c\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; inner.example\n\nFinal-Recipient: rfc822; ada@example.org\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 no\n\n--c--\n`
  const outer = multipart(
    `${machine}Subject: Returned mail: User unknown\n`,
    'The following addresses had permanent delivery errors',
    inner,
  )
  t.deepEqual(told(outer), [['ada@example.org', 'failed', '5.1.1']])
  t.false(read(outer).events[0]?.isStructured)
  const bare = `${machine}Subject: Delivery Status Notification (Failure)\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n${inner}\n--b--\n`
  t.deepEqual(told(bare), [['ada@example.org', 'failed', '5.1.1']])
  const named = multipart(`${machine}Subject: Returned mail\n`, '<bounces@example.net>:\n550 5.1.1 no such user', inner)
  t.deepEqual(told(named), [['bounces@example.net', 'failed', '5.1.1']], 'an outer notice that names somebody is the report')
})

test("prose: the notice's To did not fail, unless the sender wrote to that address", (t) => {
  const header = `${machine}Subject: Undeliverable mail\n`
  t.deepEqual(told(multipart(header, 'Your message could not be delivered.', 'From: x@example.net\nTo: me@example.com\n\nx\n')), [
    [null, 'failed', '5.0.0'],
  ])
  t.deepEqual(told(multipart(header, 'Your message could not be delivered.', 'From: me@example.com\nTo: me@example.com\n\nx\n')), [
    ['me@example.com', 'failed', '5.0.0'],
  ])
  t.deepEqual(told(notice('I could not deliver your message.\n\n<me@example.com>:\n552 5.2.2 over quota')), [
    ['me@example.com', 'failed', '5.2.2'],
  ])
})

test('prose: senders, contacts and examples are not failed recipients', (t) => {
  for (const text of [
    'Your mail could not be delivered because they are not accepting mail from list@example.net',
    'Delivery failed. If it is urgent, contact help@example.net',
    'Delivery failed; if ada.b@example.net fails, try ada.c@example.net instead',
    'The mail could not be delivered. For help write to help@example.net',
  ])
    t.deepEqual(told(notice(text)), [[null, 'failed', '5.0.0']], text)
  t.deepEqual(told(notice("You sent mail to ada@example.org. That's not a valid user here.")), [['ada@example.org', 'failed', '5.0.0']])
})

test('prose: recognizes a full mailbox by text with a null reverse-path', (t) => {
  const header = 'Return-Path: <>\nFrom: no-reply@provider.example\nTo: <me@example.com>\nSubject: Mail\n'
  const text =
    'Your mail sent on: Thu, 29 Apr 2027 00:00:00 +0900\n     Could not be delivered to: <ada@example.org>\n     As their mailbox is full.\n'
  t.deepEqual(told(multipart(header, text, original())), [['ada@example.org', 'failed', '5.0.0']])
  t.is(
    read(multipart(header.replace('<>', '<a@provider.example>'), text, original())).kind,
    'none',
    'of somebody with an address it takes more',
  )
  t.is(read(multipart(`${header}Auto-Submitted: auto-replied\n`, text, original())).kind, 'auto_reply')
  t.is(read(multipart(header, 'Thank you, we got your mail and will answer <soon@example.org>.', original())).kind, 'auto_reply')
})

test('readReport() accepts CR CR LF as a line end', (t) => {
  const mails = [
    notice('The following address failed:\n\n  ada@example.org\n    550 5.1.1 no such user\n'),
    multipart(`${machine}Subject: Undeliverable mail\n`, '<ada@example.org>: 550 5.1.1 no', original()),
  ]
  for (const mail of mails)
    for (const end of ['\r\r\n', '\r\r\r\n', '\r\n', '\r']) t.deepEqual(read(mail.replaceAll('\n', end)), read(mail), JSON.stringify(end))
})

test('readReport() repairs a mail with doubled line ends', (t) => {
  const [prefix = '', rest = ''] = notice('The following address failed:\n\n  ada@example.org\n    550 5.1.1 no such user\n').split(
    /(?<=<>\n)/,
  )
  const mail = `Date: Fri, 21 Aug 2026 12:16:40 +0200\n${rest}`
  t.deepEqual(told(`${prefix}${mail}`), [['ada@example.org', 'failed', '5.1.1']])
  t.deepEqual(read(`${prefix}${mail.replaceAll('\n', '\n\n')}`), read(`${prefix}${mail}`))
  t.deepEqual(
    read(`${prefix}Received: by mx.example.com\n${mail.replaceAll('\n', '\r\n\r\n')}`),
    read(`${prefix}Received: by mx.example.com\n${mail}`),
  )
  const spaced = `${prefix}${mail.replace(/\n\n[^]*$/, '\n\nError: no user\n\nAddress: ada@example.org\n\nCode: 550 5.1.1\n\nEnd: x\n')}`
  t.deepEqual(told(spaced), [['ada@example.org', 'failed', '5.1.1']], 'paragraphs of one line are a text')
})

test('prose: expiry is 4.4.7 in every wording', (t) => {
  for (const sentence of [
    'all hosts have been failing for a long time and were last tried after this message arrived',
    'retry timeout exceeded',
    'Envelope expired',
    'Exceeded Maximum Delivery Attempts.',
    'This message has been in the queue too long.',
    "I'm giving up",
  ])
    t.deepEqual(
      told(notice(`The following address failed:\n\n  ada@example.org\n    ${sentence}\n`)),
      [['ada@example.org', 'failed', '4.4.7']],
      sentence,
    )
})

test('prose: finds an address that is named only by its origin', (t) => {
  t.deepEqual(told(notice('The following address failed:\n\n  an undisclosed address\n    (generated from ada@example.org)\n')), [
    ['ada@example.org', 'failed', '5.0.0'],
  ])
  t.deepEqual(
    told(
      notice(
        'Your message has encountered delivery problems\nto local user ada.\n(Originally addressed to ada@example.org)\n\nUser not known',
      ),
    ),
    [['ada@example.org', 'failed', '5.0.0']],
  )
})

test('prose: names without a domain belong to the reporting mail domain', (t) => {
  const text = 'Your mail to the following recipients could not be delivered because they are not accepting mail:\n\tada\n'
  t.deepEqual(told(notice(text).replace('mx.example.net', 'example.net')), [['ada@example.net', 'failed', '5.0.0']])
  t.deepEqual(told(notice(text)), [[null, 'failed', '5.0.0']])
})

test('prose: accepts a notice from any sender if a recipient follows its first line', (t) => {
  const header = 'From: gateway@corp.example\nTo: me@example.com\nSubject: Delivery failure notification\n'
  const text = 'Your message could not be delivered to the following recipients:\n\nada@example.org\n\nDo not resend it.\n'
  t.deepEqual(told(`${header}\n${text}`), [['ada@example.org', 'failed', '5.0.0']])
  t.is(read(`${header}In-Reply-To: <1@example.com>\n\n${text}`).kind, 'none', 'an answer of a person quotes notices')
  t.is(read(`${header}\nThe delivery failed, sorry. We will send the parcel again.\n\nAda\nada@example.org\n`).kind, 'none')
})

test("prose: reads a list's refusal, but not posts about a refusal", (t) => {
  const header = 'Return-Path: <list-admin@example.org>\nFrom: list-admin@example.org\nTo: me@example.com\nX-MLServer: fml [fml 4.0.3]\n'
  const text = '\nYou are not a member of this mailing list <list@example.org>.\n'
  t.deepEqual(told(`${header}Subject: You me@example.com are not member (list ML)\n${text}`), [['list@example.org', 'failed', '5.7.2']])
  t.deepEqual(told(`${header}Subject: Loop Alert: Duplicated Message-ID\n\nDuplicated Message-ID in <list@example.org>.\n`), [
    ['list@example.org', 'failed', '5.4.6'],
  ])
  t.is(read(`${header}Subject: Re: what does the notice mean?\n${text}`).kind, 'none')
  t.is(read(`${header.replace(/X-MLServer.*\n/, '')}Subject: not member\n${text}`).kind, 'none')
})

test('readReport() reads all mails of an mbox file', (t) => {
  const mail = (address: string): string =>
    `From MAILER-DAEMON Thu Apr 29 23:34:45 2027\n${notice(`<${address}>:\n550 5.1.1 no such user\n\nFrom here on nothing more.\n`)}`
  for (const end of ['\n', '\r\n', '\r'])
    t.deepEqual(told(`${mail('ada@example.org')}\n${mail('eva@example.org')}`.replaceAll('\n', end)), [
      ['ada@example.org', 'failed', '5.1.1'],
      ['eva@example.org', 'failed', '5.1.1'],
    ])
  t.is(told(`${notice('<ada@example.org>:\n550 5.1.1 no\n')}\n${mail('eva@example.org')}`).length, 1, 'what begins otherwise is one mail')
})

test('prose: the code in the reply takes precedence over a derived status', (t) => {
  const said = (status: string, diagnostic: string): unknown =>
    read(
      `${machine}Subject: Returned mail\nContent-Type: multipart/report; boundary=b\n\n--b\n\nx\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ada@example.org\nAction: failed\nStatus: ${status}\nDiagnostic-Code: smtp; ${diagnostic}\n--b--\n`,
    ).events[0]?.status
  t.is(said('5.1.1', '550 5.7.1 IP address blacklisted by recipient'), '5.7.1')
  t.is(said('5.0.0 (permanent failure)', "5.1.0 - Unknown address error 550-'5.2.2 <ada@example.org>... Mailbox Full'"), '5.2.2')
  t.is(said('4.5.0', '550 5.5.3 x'), '4.5.0', 'of another class')
})

test('DSN: returns an invalid address as written', (t) => {
  const mail = `${machine}Subject: Returned mail\nContent-Type: multipart/report; boundary=b\n\n--b\n\nx\n--b\nContent-Type: message/delivery-status\n\nFinal-Recipient: RFC822; ada@#example.net\nAction: failed\nStatus: 5.1.2\n--b--\n`
  t.deepEqual(told(mail), [['ada@#example.net', 'failed', '5.1.2']])
})

test('complaint: recognizes a Hotmail report that is the message itself', (t) => {
  const [event] = read(
    `Return-Path: staff@hotmail.com\nX-HmXmrOriginalRecipient: ada@hotmail.com\nTo: ada@hotmail.com\nFrom: shop@example.com\nSubject: Sale\nMessage-ID: <1@example.com>\n\nSale\n`,
  ).events
  t.like(event, { type: 'complained', recipient: 'ada@hotmail.com', feedbackType: 'abuse' })
  t.deepEqual(event?.clues.messageIds, ['<1@example.com>'])
})
