/** Composed messages, read by an independent parser and compared octet by octet. */
import { simpleParser, type AddressObject, type ParsedMail } from 'mailparser'
import test from '#test'
import { parseMailbox, type Mailbox } from '#core/addresses.ts'
import { attachmentsOf, type Attachment, type GivenAttachment } from '#core/submission/compose/attachments.ts'
import { Base64File } from '#core/submission/compose/base64.ts'
import { compose, formatMailbox, rfc5322Date, type SendRequest } from '#core/submission/compose/compose.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { composedOf, traceId } from './readers.ts'
import { foreignText } from '../../../support/foreign-text.ts'

const mailbox = (text: string): Mailbox => {
  const parsed = parseMailbox(text)
  if (!parsed) throw new Error(`no mailbox: ${text}`)
  return parsed
}

const plain: SendRequest = {
  from: mailbox('Shop <shop@example.com>'),
  to: [mailbox('anna@example.net')],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'Your order',
  text: 'Thank you.\n',
  html: undefined,
  headers: [],
  attachments: [],
}
const composed = (changes: Partial<SendRequest> = {}, id = traceId): string => composedOf({ ...plain, ...changes }, id).toString()
const base64 = (octets: Uint8Array | string): Base64File => {
  const parsed = Base64File.parse(Buffer.from(octets).toString('base64'))
  if (parsed instanceof Base64File) return parsed
  throw new Error(parsed.fault)
}
/** One file as the core processes it. */
const file = (given: Partial<GivenAttachment>): Attachment => {
  const [made] = attachmentsOf([{ filename: 'x', contentType: undefined, content: base64('x'), contentId: undefined, ...given }])
  if (!made) throw new Error('no file')
  return made
}
const read = (changes: Partial<SendRequest> = {}): Promise<ParsedMail> =>
  simpleParser(composed(changes), { skipTextToHtml: true, skipHtmlToText: true })
const addressesOf = (field: AddressObject | AddressObject[] | undefined): string[] =>
  [field ?? []].flat().flatMap(({ value }) => value.map(({ name, address }) => (name ? `${name} <${address}>` : (address ?? ''))))

/** Checks that lines end in CRLF and are not too long. */
function wellFormed(t: { fail(message: string): unknown }, text: string, maxHeader = 998): void {
  if (/[^\r]\n|\r[^\n]/.test(text)) t.fail('a bare line break')
  const [head = ''] = text.split('\r\n\r\n')
  for (const line of text.split('\r\n')) if (Buffer.byteLength(line) > 998) t.fail(`a line of ${line.length} octets`)
  for (const line of head.split('\r\n')) {
    if (Buffer.byteLength(line) > maxHeader) t.fail(`a header line of ${line.length} octets: ${line}`)
    if (line.trim() === '') t.fail('a header line of nothing but blanks')
  }
}

test('compose(): plain message, octet by octet', (t) => {
  t.is(
    composed(),
    [
      'Date: Tue, 15 Jan 2030 12:00:00 +0000',
      `Message-ID: <${traceId}@example.com>`,
      'From: Shop <shop@example.com>',
      'To: anna@example.net',
      'Subject: Your order',
      'MIME-Version: 1.0',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'Thank you.',
      '',
    ].join('\r\n'),
  )
  t.deepEqual(compose(plain, traceId, startOfTime).facts, {
    prefix: '',
    subject: 'Your order',
    messageId: `${traceId}@example.com`,
    headerFrom: 'shop@example.com',
    headerAddresses: ['shop@example.com', 'anna@example.net'],
    eightBit: false,
  })
})

test('compose(): nests text, HTML, inline and attached files', async (t) => {
  const pixel = Buffer.from('iVBORw0KGgo=', 'base64')
  const changes: Partial<SendRequest> = {
    text: 'Grüezi',
    html: '<p>Grüezi <img src="cid:logo@shop"></p>',
    attachments: [
      file({ filename: 'logo.png', content: base64(pixel), contentId: 'logo@shop' }),
      file({ filename: 'Rechnung für März.pdf', content: base64(Buffer.alloc(5000, 7)) }),
    ],
  }
  const text = composed(changes)
  wellFormed(t, text)
  const types = [...text.matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, type]) => type)
  t.deepEqual(types, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'application/pdf',
  ])
  const mail = await read(changes)
  t.is(mail.text?.trim(), 'Grüezi')
  t.is(String(mail.html).trim().startsWith('<p>Grüezi <img src="'), true)
  const [logo, bill] = mail.attachments
  t.like(logo, { filename: 'logo.png', contentType: 'image/png', cid: 'logo@shop', related: true, contentDisposition: 'inline' })
  t.like(bill, { filename: 'Rechnung für März.pdf', contentType: 'application/pdf', contentDisposition: 'attachment' })
  t.is(Buffer.compare(bill?.content ?? Buffer.alloc(0), Buffer.alloc(5000, 7)), 0)
  t.is(Buffer.compare(logo?.content ?? Buffer.alloc(0), pixel), 0)
})

for (const { title, changes, types } of [
  { title: 'HTML alone', changes: { text: undefined, html: '<b>x</b>' }, types: ['text/html'] },
  { title: 'nothing', changes: { text: undefined }, types: ['text/plain'] },
  { title: 'text and HTML', changes: { html: '<b>x</b>' }, types: ['multipart/alternative', 'text/plain', 'text/html'] },
  {
    title: 'an inline file without HTML',
    changes: { attachments: [file({ filename: 'a.png', contentId: 'a' })] },
    types: ['multipart/mixed', 'text/plain', 'image/png'],
  },
  {
    title: 'an empty file',
    changes: { attachments: [file({ contentType: 'text/plain', content: base64('') })] },
    types: ['multipart/mixed', 'text/plain', 'text/plain'],
  },
] as { title: string; changes: Partial<SendRequest>; types: string[] }[]) {
  test(`compose(): ${title} has the required parts`, async (t) => {
    const text = composed(changes)
    wellFormed(t, text)
    t.deepEqual(
      [...text.matchAll(/^Content-Type: ([\w/]+)/gm)].map(([, type]) => type),
      types,
    )
    t.is((await read(changes)).attachments.length, changes.attachments?.length ?? 0)
  })
}

const texts: readonly (readonly [string, string])[] = [
  ['ASCII', 'line one\r\nline two\r\n'],
  ['empty', ''],
  ['dots and From', '.\r\n..\r\n.dot\r\nFrom here\r\n'],
  ['umlauts and emoji', 'Grüße 👩‍👩‍👧 aus Zürich\r\n'.repeat(50)],
  ['one line of 5,000', 'x'.repeat(5000)],
  ['one line of exactly 998', 'x'.repeat(998)],
  ['one line of 999', 'x'.repeat(999)],
  ['blanks at line ends', 'a  \r\nb\t\r\nü \r\n'],
  ['equals signs', '=3D =20 a=b ü'],
  ['controls', 'a\u0001b\u007fc'],
  ['something like a boundary', '--=_mixed_0123\r\n\r\n--'],
  ['encoded words', '=?utf-8?q?x?='],
]
for (const [title, body] of texts) {
  test(`compose(): keeps text and HTML of ${title}`, async (t) => {
    const changes = { text: body, html: `<pre>${body}</pre>` }
    wellFormed(t, composed(changes))
    t.false(/[^\u0000-\u007f]/.test(composed(changes)))
    const mail = await read(changes)
    const plainLines = (text: string): string => text.replaceAll('\r\n', '\n').replace(/\n$/, '')
    t.is(plainLines(mail.text ?? ''), plainLines(body))
    t.is(plainLines(String(mail.html)), plainLines(`<pre>${body}</pre>`))
  })
}

test('compose(): converts every kind of line break to CRLF', (t) => {
  t.true(composed({ text: 'a\nb\rc\r\nd\n\ne' }).endsWith('\r\n\r\na\r\nb\r\nc\r\nd\r\n\r\ne'))
})

const subjects = [
  'Your order',
  '',
  'Grüße aus Zürich',
  '日本語の件名'.repeat(20),
  '👩‍👩‍👧'.repeat(30),
  'a "quoted" word, and (more): <such>',
  `${'word '.repeat(150)}end`,
  'x'.repeat(900),
  `ü${'x'.repeat(500)}`,
  'a'.repeat(70) + ' ' + 'b'.repeat(200),
  'half a character \ud83d here',
]
for (const subject of subjects) {
  test(`compose(): keeps the subject ${subject.slice(0, 40).toWellFormed()} (${subject.length})`, async (t) => {
    const text = composed({ subject })
    wellFormed(t, text)
    t.is((await simpleParser(text)).subject ?? '', subject.toWellFormed())
    const header = /^Subject:(.*(?:\r\n[ \t].*)*)/m.exec(text)?.[1] ?? ''
    if (!/\S{70}/.test(subject)) for (const line of header.split('\r\n')) t.true(line.length <= 76, line)
  })
}

test('compose(): keeps words that the caller has encoded', async (t) => {
  const subject = 'Many =?utf-8?q?Gr=C3=BC=C3=9Fe?='
  t.true(composed({ subject }).includes(`Subject: ${subject}\r\n`))
  t.is((await read({ subject })).subject, 'Many Grüße')
})

const names = [
  'Anna',
  'Meier, Anna',
  'Zoë "Z" Müller',
  'a\\b',
  "O'Neill & Söhne (Zürich)",
  '日本語'.repeat(30),
  'x@y.test',
  'a=?utf-8?Q?b_c?=d',
  '.',
  'ß',
]
test('compose(): keeps display names in every address field', async (t) => {
  const mailboxes = names.map((name, i) => ({ ...mailbox(`r${i}@example.net`), name }))
  for (const [i, from] of mailboxes.entries()) {
    const changes = { from, to: mailboxes, cc: mailboxes.toReversed(), replyTo: [from, mailbox('b@example.net')] }
    wellFormed(t, composed(changes))
    const mail = await read(changes)
    const expected = mailboxes.map(({ name, address }) => `${name} <${address}>`)
    t.deepEqual(addressesOf(mail.from), [expected[i] ?? ''])
    t.deepEqual(addressesOf(mail.to), expected)
    t.deepEqual(addressesOf(mail.cc), expected.toReversed())
    t.deepEqual(addressesOf(mail.replyTo), [expected[i] ?? '', 'b@example.net'])
  }
})

test('compose(): folds fields with many recipients', async (t) => {
  const to = Array.from({ length: 300 }, (_, i) => mailbox(`Recipient Number ${i} <recipient.number.${i}@example.net>`))
  const text = composed({ to })
  wellFormed(t, text, 76)
  t.is(addressesOf((await simpleParser(text)).to).length, 300)
})

test('compose(): omits Bcc', (t) => {
  const blind = foreignText(t)
  const bcc = [mailbox(`Blind ${blind} <${blind}@example.org>`)]
  const { facts } = compose({ ...plain, bcc }, traceId, startOfTime)
  const text = composed({ bcc })
  t.false(text.includes(blind))
  t.notRegex(text, /^bcc:/im)
  t.deepEqual(facts.headerAddresses, ['shop@example.com', 'anna@example.net'])
})

test('compose(): folds and encodes custom fields', async (t) => {
  const headers = [
    { name: 'X-Campaign', value: 'spring 2030' },
    { name: 'List-Unsubscribe', value: '<https://shop.example.com/u?x=1>, <mailto:u@example.com>' },
    { name: 'X-Note', value: 'Grüße' },
    { name: 'X-Long', value: 'word '.repeat(100).trim() },
  ]
  wellFormed(t, composed({ headers }))
  const mail = await read({ headers })
  t.is(mail.headers.get('x-campaign'), 'spring 2030')
  t.is(mail.headers.get('x-note'), '=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=')
  t.is(mail.headers.get('x-long'), 'word '.repeat(100).trim())
})

for (const [filename, kept = filename] of [
  ['a.txt'],
  ['a b.txt'],
  ['a"b\\c;d.txt', 'c;d.txt'],
  ['a"b;c,d(e)@[f].txt', 'a_b;c,d(e)@[f].txt'],
  ['ü.pdf'],
  ['日本語'.repeat(20) + '.pdf'],
  [`${'x'.repeat(240)}.txt`],
  ["it's 100% & (more)*.txt", "it's 100% & (more)_.txt"],
  ["ü's 100% (more)!~.txt"],
  ['😀'.repeat(50) + '.txt'],
  ['\ud83d.txt', '\ufffd.txt'],
] as const) {
  test(`compose(): keeps the file name ${filename.slice(0, 30).toWellFormed()} (${filename.length})`, async (t) => {
    const changes = { attachments: [file({ filename })] }
    const text = composed(changes)
    wellFormed(t, text)
    if (/[^\u0000-\u007f]/.test(kept)) for (const line of text.split('\r\n')) t.true(line.length <= 76, line)
    t.is((await read(changes)).attachments[0]?.filename, kept)
    const { attachments } = await simpleParser(text.replaceAll(/;\r\n filename[^\r]*/g, ''))
    t.is(attachments[0]?.filename, kept, 'also by the name in Content-Type only')
  })
}

test('compose(): writes files of any length in base64 lines of at most 76', async (t) => {
  for (const size of [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 10_000, 57 * 32_768 - 1, 57 * 32_768, 57 * 32_768 + 1, 1_000_000]) {
    const content = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) % 256))
    const changes = { attachments: [file({ content: base64(content) })] }
    const [, body = ''] = composed(changes).split(/filename="x"\r\n\r\n/)
    const lines = body.split('\r\n').slice(0, Math.ceil(size / 57))
    t.true(
      lines.every((line, i) => (i < lines.length - 1 ? line.length === 76 : line.length <= 76)),
      `${size}`,
    )
    t.is(Buffer.compare((await read(changes)).attachments[0]?.content ?? Buffer.from('none'), content), 0, `${size}`)
  }
})

test('compose(): is deterministic for trace and time, and differs by trace', (t) => {
  const changes = {
    html: '<b>x</b>',
    attachments: [file({})],
  }
  t.is(composed(changes), composed(changes))
  const other = composed(changes, '00000000-0000-4000-8000-000000000000')
  t.notDeepEqual(other.match(/boundary="[^"]+"/g), composed(changes).match(/boundary="[^"]+"/g))
})

test('compose(): prevents header injection', (t) => {
  const evil = 'x\r\nBcc: q@evil.test'
  const made = file({})
  const attempts: Partial<SendRequest>[] = [
    { subject: evil },
    { subject: 'ü x\nBcc: q@evil.test y' },
    { headers: [{ name: 'X-A', value: evil }] },
    { headers: [{ name: `X-A: b\r\nBcc`, value: 'q@evil.test' }] },
    { from: { ...plain.from, name: evil } },
    { from: { ...plain.from, address: 'a@b.ch\r\nBcc: q@evil.test' } },
    { to: [{ ...plain.from, name: `"${evil}` }] },
    { replyTo: [{ ...plain.from, name: 'a\rb' }] },
    { attachments: [{ ...made, contentType: `text/plain\r\nBcc: q@evil.test` }] },
    { attachments: [{ ...made, filename: evil }] },
    { html: 'x', attachments: [{ ...made, contentId: `a>\r\nBcc: <q@evil.test` }] },
    { subject: 'a\0b' },
  ]
  for (const changes of attempts) {
    let text = ''
    try {
      text = composed(changes)
    } catch (error) {
      t.true(error instanceof TypeError)
    }
    t.false(/^Bcc/im.test(text), JSON.stringify(changes))
    wellFormed(t, text || 'none')
  }
})

test('compose(): writes non-ASCII addresses unencoded', (t) => {
  const to = [mailbox('jürg@example.ch')]
  t.true(composed({ to, attachments: [file({})] }).includes('To: jürg@example.ch'))
})

test('formatMailbox(): quotes and encodes only if necessary', (t) => {
  const format = (text: string): string => formatMailbox(mailbox(text))
  t.is(format('anna@example.net'), 'anna@example.net')
  t.is(format('Anna Meier <anna@example.net>'), 'Anna Meier <anna@example.net>')
  t.is(format('"Meier, Anna" <anna@example.net>'), '"Meier, Anna" <anna@example.net>')
  t.is(format('=?utf-8?q?Zo=C3=AB?= <anna@example.net>'), '=?utf-8?q?Zo=C3=AB?= <anna@example.net>', 'encoded by the caller')
  t.is(format('Zoë <anna@example.net>'), '=?UTF-8?Q?Zo=C3=AB?= <anna@example.net>')
})

test('rfc5322Date(): writes UTC', (t) => {
  t.is(rfc5322Date(0), 'Thu, 01 Jan 1970 00:00:00 +0000')
  t.is(rfc5322Date(Date.UTC(2032, 1, 29, 23, 59, 59)), 'Sun, 29 Feb 2032 23:59:59 +0000')
})
