/** Mail in the forms of real programs, parsed without the thread. Each is tested with the line ends of the file and with CRLF. */
import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from '#test'
import type { ReadMessage } from '#core/capture/reading/message-reader.ts'
import { readAttachment, readMessage } from '#ingest/messages/read-message.ts'
import { column, columns } from '../../support/column.ts'

const folder = new URL('../../fixtures/mail/as-it-comes/', import.meta.url)

async function inBothForms(t: ExecutionContext, name: string, check: (message: ReadMessage, raw: Buffer) => unknown): Promise<void> {
  const raw = await readFile(new URL(`${name}.eml`, folder))
  const sent = Buffer.from(raw.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
  for (const form of [raw, sent]) await check(await readMessage(form, false), form)
  t.notDeepEqual(raw, sent)
}

test('readMessage() decodes words of ISO-2022-JP each alone', (t) =>
  inBothForms(t, 'japanese-subject', ({ subject }) => t.is(subject, '年末年始の営業日と発送予定に関する大切なお知らせをお送りいたします')))

test('readMessage() reads text without a charset', (t) =>
  inBothForms(t, 'undeclared-charset', ({ text }) => t.is(text.trim(), 'Guten Tag Frau Müßig, das Gerät kostet 129 € – passt das?')))

test('readMessage() reads the charset ANSI_X3.4-1968 of cron mail as UTF-8', (t) =>
  inBothForms(t, 'cron-charset', ({ text }) => t.is(text.trim(), 'Übersprungen: 3 Dateien')))

test('readMessage() reads parts between padded delimiters', (t) =>
  inBothForms(t, 'padded-delimiters', async ({ text, attachments }, raw) => {
    t.is(text.trim(), 'The report is attached.')
    t.deepEqual(columns(attachments, 'filename', 'contentType', 'size'), [['report.pdf', 'application/pdf', 11]])
    t.is(Buffer.from((await readAttachment(raw, false, 0)) ?? []).toString(), 'Hello World')
  }))

test('readMessage() closes an inner multipart at a delimiter of an outer one', async (t) => {
  const inner =
    'Content-Type: multipart/alternative; boundary=i\r\n\r\n--i\r\n\r\nBill\r\n--i\r\nContent-Type: text/html\r\n\r\n<p>Bill</p>\r\n'
  const bill =
    '--o\r\nContent-Type: application/pdf; name=bill.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8gd29ybGQ=\r\n--o--\r\n'
  for (const between of ['', '--i--\r\n', '\r\n', 'Content-Type: text/html\r\n']) {
    const raw = Buffer.from(`Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n${inner}${between}${bill}`)
    const { text, html, attachments } = await readMessage(raw, false)
    t.is(text.trim(), 'Bill')
    t.true(html.startsWith('<p>Bill</p>') && !html.includes('--o'))
    t.deepEqual(columns(attachments, 'filename', 'size'), [['bill.pdf', 11]])
  }
})

test('readMessage() lists named text parts after the first as inline files', (t) =>
  inBothForms(t, 'inline-text-files', async ({ text, html, attachments }, raw) => {
    t.is(text.trim(), 'Two files.')
    t.is(html, '')
    t.deepEqual(columns(attachments, 'filename', 'contentType', 'inline'), [
      ['server.log', 'text/plain', true],
      ['report.html', 'text/html', true],
    ])
    t.regex(Buffer.from((await readAttachment(raw, false, 0)) ?? []).toString(), /^10:00 start\r?\n10:01 stop$/)
  }))

const named = (type: string, name: string, content: string): string => `Content-Type: ${type}; name=${name}\r\n\r\n${content}\r\n`
const multi = (subtype: string, boundary: string, ...parts: readonly string[]): string =>
  `Content-Type: multipart/${subtype}; boundary=${boundary}\r\n\r\n${parts.map((part) => `--${boundary}\r\n${part}`).join('')}--${boundary}--\r\n`
const readText = (raw: string): Promise<ReadMessage> => readMessage(Buffer.from(raw, 'latin1'), false)

test('readMessage() shows a named text that is the text of the mail', async (t) => {
  const [plain, html] = [named('text/plain', 'a.txt', 'plain'), named('text/html', 'a.html', '<p>page</p>')]
  const picture = named('image/png', 'a.png', 'x')
  for (const raw of [
    plain,
    multi('alternative', 'a', plain, html),
    multi('alternative', 'a', plain, multi('related', 'r', html, picture)),
  ]) {
    const message = await readText(raw)
    t.is(message.text.trim(), 'plain')
    t.is(message.html.trim(), raw === plain ? '' : '<p>page</p>')
  }
})

test('readMessage() lists a log file without a disposition, also among alternatives', async (t) => {
  const log = named('text/plain', 'a.log', 'log')
  const page = 'Content-Type: text/html\r\n\r\n<p>page</p>\r\n'
  const { text, html, attachments } = await readText(multi('alternative', 'a', '\r\nplain\r\n', multi('mixed', 'm', page, log, page)))
  t.is(text.trim(), 'plain')
  t.false(html.includes('log'))
  t.deepEqual(columns(attachments, 'filename', 'inline'), [['a.log', true]])
})

test('readMessage() decodes a uuencoded file', (t) =>
  inBothForms(t, 'uuencoded-file', async ({ text, attachments }, raw) => {
    t.is(text.trim(), 'Scan')
    t.deepEqual(columns(attachments, 'filename', 'size'), [['scan.bin', 17]])
    t.is(Buffer.from((await readAttachment(raw, false, 0)) ?? []).toString(), 'seventeen octets!')
  }))

test('readMessage() accepts other spellings of transfer encodings', async (t) => {
  const encoded = async (encoding: string, content: string): Promise<string> =>
    (await readText(`Content-Transfer-Encoding: ${encoding}\r\n\r\n${content}`)).text
  for (const name of ['BASE64', '"base64"', 'base-64', 'x-base64', 'base64;', 'base64 (a (b))', 'Base 64.'])
    t.is(await encoded(name, 'SGVsbG8='), 'Hello', name)
  for (const name of ['Quoted-Printable', 'quoted_printable', 'quoted printable', "'quoted-printable'", 'quoted-printable; charset=utf-8'])
    t.is(await encoded(name, 'H=65llo'), 'Hello', name)
  for (const name of ['7-bit', '8 BIT', 'none', 'utf-8', 'x-zip']) t.is(await encoded(name, 'H=65llo'), 'H=65llo', name)
  for (const name of ['uuencode', 'x-uue', 'UUE']) t.is(await encoded(name, 'begin 644 x\r\n%2&5L;&\\\r\n`\r\nend\r\n'), 'Hello', name)
})

test('readMessage() treats parts of a digest without a type as messages', async (t) => {
  const message = '\r\nSubject: one\r\n\r\nbody\r\n'
  const { text, attachments } = await readText(
    multi('mixed', 'm', '\r\nTwo mails\r\n', multi('digest', 'd', message, named('text/html', 'x.html', 'x'))),
  )
  t.is(text.trim(), 'Two mails')
  t.deepEqual(column(attachments, 'contentType'), ['message/rfc822', 'text/html'])
})

test('readMessage() decodes names of files as it decodes header fields', async (t) => {
  const file = (fields: string): string => `${fields}\r\n\r\nx\r\n`
  const { attachments } = await readText(
    multi(
      'mixed',
      'm',
      '\r\ntext\r\n',
      file('Content-Type: image/png; name="M\xfcll 5\x80.png"'),
      file("Content-Type: image/png; name*=utf-8''M%FCll.png"),
      file('Content-Type: image/png; name=x.png\r\nContent-Disposition: attachment;\r\n filename="=?x-IAS-German?B?YS5wbmc=?="'),
      file("Content-Type: image/png;\r\n name*0*=iso-2022-jp''%1B$BF%7CK%5C;\r\n name*1*=8l%1B(B.png"),
      file("Content-Type: application/pdf; name*=''M%C3%BCll.pdf"),
    ),
  )
  t.deepEqual(column(attachments, 'filename'), ['Müll 5€.png', 'Müll.png', 'a.png', '日本語.png', 'Müll.pdf'])
})

test('readMessage() invents no date for an embedded message', async (t) => {
  const inline = (...dates: readonly string[]): string =>
    `Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\nFrom: a@x.example\r\n${dates.map((date) => `Date: ${date}\r\n`).join('')}Subject: s\r\n\r\nbody`
  for (const dates of [[], ['tomorrow'], ['Sat, 21 Nov 2026 12:00:00 +0000', 'tomorrow']])
    t.is((await readText(inline(...dates))).text.trim(), 'From: a@x.example\nSubject: s\n\nbody', dates.join())
  t.regex((await readText(inline('Sat, 21 Nov 2026 12:00:00 +0000'))).text, /\nDate: Sat, 21 Nov 2026 12:00:00 GMT\n/)
})

test('readMessage() removes a truncated delimiter from the last part', async (t) => {
  const raw =
    'Content-Type: multipart/mixed; boundary=mmmm\r\n\r\n--mmmm\r\n\r\ntext\r\n--mmmm\r\nContent-Type: image/gif; name=a.gif\r\n' +
    'Content-Transfer-Encoding: base64\r\n\r\nSGVsbG8=\r\n'
  for (const end of ['--mmmm', '--mmmm--', '--mmmm-- ']) t.deepEqual(column((await readText(raw + end)).attachments, 'size'), [5], end)
})

test('readMessage() joins flowed lines of one depth of quotes', async (t) => {
  const flowed = '> On Monday \r\n> we met.\r\n>> Where?\r\nIn the \r\n office.\r\n-- \r\nMira'
  t.is((await body('text/plain; format=flowed', flowed)).text, '> On Monday we met.\n>> Where?\nIn the office.\n-- \nMira')
})

test('readMessage() names embedded images by their decoded content id', (t) =>
  inBothForms(t, 'percent-encoded-cid', ({ html, document, attachments }) => {
    t.is(html.trim(), '<p><img alt="logo" src="cid:logo@shop" /></p>')
    t.true(document.html.includes('src="cid:logo@shop"'))
    t.deepEqual(columns(attachments, 'contentId', 'inline'), [['logo@shop', true]])
  }))

test('readMessage() names embedded images by mid: and Content-Location', async (t) => {
  const image = (field: string): string => `Content-Type: image/png\r\n${field}\r\n\r\nx\r\n`
  const page =
    'Content-Type: text/html\r\n\r\n<img src="mid:m@x/a%25b"><img src="b.png"><img src="https://x.example/c.png"><img src="d.png">\r\n'
  const parts = [
    image('Content-ID: <a%b>'),
    image('Content-Location: b.png'),
    image('Content-Location: https://x.example/\r\n c.png\r\nContent-ID: <c>'),
  ]
  const { html, attachments } = await readText(multi('related', 'r', page, ...parts))
  t.is(html.trim(), '<img src="cid:a%b" /><img src="cid:part-1.location" /><img src="cid:c" /><img />')
  t.deepEqual(column(attachments, 'contentId'), ['a%b', 'part-1.location', 'c'])
})

test('readMessage(): rewrites Content-Location URLs in styles to cid: URLs', async (t) => {
  const page =
    'Content-Type: text/html\r\n\r\n<style>p{background:url(b.png)}</style><body background="b.png" style="color:red">' +
    '<p style="background:url(\'https://x.example/c.png\')">a<p style="background:url(d.png)">b<table background="b.png"></table>\r\n'
  const image = (field: string): string => `Content-Type: image/png\r\n${field}\r\n\r\nx\r\n`
  const parts = [image('Content-Location: b.png'), image('Content-Location: https://x.example/c.png\r\nContent-ID: <c>')]
  const { document } = await readText(multi('related', 'r', page, ...parts))
  t.is(document.styles, 'p{background:url(cid:part-0.location)}')
  t.is(document.body['style'], 'background-image:url(cid:part-0.location);color:red')
  t.deepEqual(
    [...document.html.matchAll(/ style="([^"]*)"/g)].map(([, style]) => style),
    ['background:url(cid:c)', '--unjudged-background:1', 'background-image:url(cid:part-0.location)'],
  )
})

test('readMessage() omits names without an address', async (t) => {
  const { from, to, headers } = await readText('From: root\r\nTo: Ana ana@x.example, Mailer <>\r\n\r\n')
  t.deepEqual(from, [])
  t.deepEqual(to, [{ address: 'ana@x.example', name: 'Ana' }])
  t.is(headers[0]?.value, 'root')
})

const codes = async (raw: string, cut = false): Promise<string[]> =>
  column((await readMessage(Buffer.from(raw, 'latin1'), cut)).notes, 'code')

test('readMessage() shows text without a preceding empty line or delimiter', async (t) => {
  const [html, pdf] = ['Content-Type: text/html\r\n\r\n<p>Hello</p>\r\n', named('application/pdf', 'a.pdf', 'x')]
  for (const [raw, text, ...notes] of [
    ['Subject: s\r\nHello', 'Hello', 'unended_header'],
    ['Subject: s\r\n \r\nHello\r\n\r\nthere', 'Hello\n\nthere', 'unended_header'],
    [multi('mixed', 'm', 'Content-Type: text/plain\r\nHello\r\n', pdf), 'Hello', 'unended_header'],
    [multi('mixed', 'm', '\r\nHello\r\n', pdf).replace('\r\n\r\n', '\r\n'), 'Hello', 'unended_header'],
    ['Content-Type: multipart/mixed\r\n\r\nHello', 'Hello', 'no_delimiter'],
    ['Content-Type: multipart/mixed; boundary=m\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8=', 'Hello', 'no_delimiter'],
    [multi('mixed', 'm', 'Content-Type: multipart/related; boundary=r\r\n\r\nHello\r\n', pdf), 'Hello', 'no_delimiter'],
    [multi('mixed', 'm', 'Content-Type: multipart/alternative (two); boundary=a\r\n\r\n--a\r\n\r\nHello\r\n--a--\r\n'), 'Hello'],
    [`Content-Type: text\r\n\r\nHello`, 'Hello'],
    [html.replace('html', 'html (a page)'), 'Hello'],
  ] as const) {
    const message = await readText(raw)
    t.is(message.text.trim(), text, raw)
    t.deepEqual(column(message.notes, 'code'), notes, raw)
    t.deepEqual(column(message.attachments, 'filename'), raw.includes('pdf') ? ['a.pdf'] : [], raw)
  }
})

test('readMessage() counts omitted addresses, fields and lines', async (t) => {
  const to = (count: number): string => `To: ${Array.from({ length: count }, (_, at) => `a${at}@x.example`).join(', ')}\r\n\r\n`
  t.deepEqual(await codes(to(1000)), [])
  for (const raw of [to(1005), `${'To: a@x.example\r\n'.repeat(1005)}\r\n`, `${'stray\r\n'.repeat(5)}Subject: x\r\n\r\n`]) {
    const { notes, to: list } = await readText(raw)
    t.true(list.length <= 1000)
    t.deepEqual(notes, [{ code: 'header_cut', sentence: 'Truncated or omitted fields, lines and addresses of the header: 5.' }])
  }
})

test('readMessage() notes omitted, undecodable and guessed content', async (t) => {
  t.deepEqual(await codes(multi('mixed', 'm', '\r\nplain\r\n', named('image/png', 'a.png', 'x'))), [])
  t.deepEqual(await codes('Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\nx'), ['unclosed_part'])
  t.deepEqual(await codes('Content-Type: text/plain; charset=x-nothing\r\n\r\nplain'), [])
  t.deepEqual(await codes('Content-Type: text/plain; charset=utf-8\r\n\r\n\xc3\xbc\xc3\xbc\xff'), ['broken_text'])
  for (const [encoding, content] of [
    ['base64', 'SGVs*bG8='],
    ['Base64', 'SGVsbG8=A'],
    ['quoted-printable', 'a=b?'],
    ['x-uuencode', 'no file'],
  ] as const)
    for (const head of ['', 'Content-Type: image/png\r\n'])
      t.deepEqual(await codes(`${head}Content-Transfer-Encoding: ${encoding}\r\n\r\n${content}`), ['broken_transfer_encoding'], encoding)
  t.deepEqual(await codes(`\r\n${'x'.repeat(1_000_001)}`), ['text_cut'])
  t.deepEqual(await codes(`Content-Type: text/html\r\n\r\n${'x'.repeat(1_000_001)}`), ['html_cut'])
  t.deepEqual(await codes(`Content-Type: text/html\r\n\r\nHello<!--${'x'.repeat(1_000_001)}--><style>p{}</style>`), [
    'html_cut',
    'styles_cut',
  ])
  t.deepEqual(await codes(`Content-Type: text/html\r\n\r\nHello<style>/*${'x'.repeat(200_000)}*/</style>`), ['styles_cut'])
  t.deepEqual(await codes(named('image/png', 'a.png', 'x'), true), ['attachment_cut'])
  t.deepEqual((await readText('Content-Type: text/plain; charset="x-(no) thing"\r\nContent-Transfer-Encoding: x-zip\r\n\r\n\xff')).notes, [
    { code: 'unknown_charset', sentence: 'The charset "x-nothing" is unknown; the text was decoded by a guess.' },
    { code: 'unknown_transfer_encoding', sentence: 'The transfer encoding "x-zip" is unknown; the part appears undecoded.' },
  ])
})

const body = async (type: string, content: string): Promise<ReadMessage> =>
  readMessage(Buffer.from(`Content-Type: ${type}\r\n\r\n${content}`, 'latin1'), false)

test('readMessage(): guesses the charset if the declared one does not match', async (t) => {
  t.is((await body('text/plain; charset=utf-8', 'M\xfc\xdfig')).text, 'Müßig')
  t.is((await body('text/plain; charset=binary', 'M\xfc\xdfig')).text, 'Müßig')
  t.is((await body('text/plain; charset=cp850', '\x81')).text, 'ü')
  t.is((await body('text/html; charset=us-ascii', '<p>M\xfc\xdfig')).html, '<p>Müßig</p>')
  t.is((await body('text/html', '<meta charset=windows-1251><p>\xe4\xe0')).html, '<p>да</p>')
})

test('readMessage() decodes subject and names of an embedded message', async (t) => {
  const values = [
    'Gr\xfc\xdfe aus Z\xfcrich',
    '=?iso-2022-jp?B?GyRCRnxLXA==?= =?iso-2022-jp?B?OGwbKEI=?=',
    '=?utf-8?B?44GC44E=?= =?utf-8?B?hOOBhg==?=',
    '=?x-unknown?Q?caf=E9?=',
    '=?utf-8?Q?a=00b=0Ac?=',
    '=?windows-1252?Q?=80_5_=96_ok?= =?UTF-8?Q?_=F0=9F=91=8D?=',
    '=?utf-8?q?literal_=3D=3Futf-8=3Fq=3Fx=3F=3D?=',
  ]
  for (const value of values) {
    const fields = `From: ${value} <a@b.test>\r\nSubject: ${value}\r\nTo: "Ann, B." <ann@b.test>, c@b.test`
    const raw = `Content-Type: message/rfc822\r\nContent-Disposition: inline\r\n\r\n${fields}\r\n\r\nhello\r\n`
    const [outer, shown] = [await readText(`${fields}\r\n\r\nhello\r\n`), (await readText(raw)).text]
    t.true(shown.includes(`\nSubject: ${outer.subject}\n`), `${JSON.stringify(shown)} ${outer.subject}`)
    t.true(shown.includes(`From: ${JSON.stringify(outer.from[0]?.name)} <a@b.test>`), `${JSON.stringify(shown)} ${outer.from[0]?.name}`)
    t.true(shown.includes('\nTo: "Ann, B." <ann@b.test>, c@b.test\n'), shown)
  }
})
