/** Attachments: names, types, and encoding by type. */
import test from '#test'
import { attachmentsOf, type GivenAttachment } from '#core/submission/compose/attachments.ts'
import { Base64File } from '#core/submission/compose/base64.ts'
import { filePart } from '#core/submission/compose/file-part.ts'
import { Refusal } from '#core/refusals.ts'
import { runAtOnce } from '#core/event-loop.ts'
import { column } from '../../../support/column.ts'

const base64 = (octets: string): Base64File => {
  const parsed = Base64File.parse(Buffer.from(octets, 'latin1').toString('base64'))
  if (parsed instanceof Base64File) return parsed
  throw new Error(parsed.fault)
}
const given = (changes: Partial<GivenAttachment> = {}): GivenAttachment => ({
  ...{ filename: 'a.bin', contentType: undefined, content: base64('octets'), contentId: undefined },
  ...changes,
})
const typed = (contentType: string | undefined, filename = 'x'): string | undefined =>
  attachmentsOf([given({ contentType, filename })])[0]?.contentType

test('attachmentsOf(): makes names safe and unique', (t) => {
  const names = ['2029/report.pdf', '2030\\report.pdf', undefined, '', 'CON', 'a\r\nBcc: x@y.test']
  t.deepEqual(column(attachmentsOf(names.map((filename) => given({ filename, contentType: 'application/pdf' }))), 'filename'), [
    'report.pdf',
    'report (2).pdf',
    'attachment.pdf',
    'attachment (2).pdf',
    '_CON',
    'aBcc_ x@y.test',
  ])
})

test('attachmentsOf(): derives a missing or generic type from the name', (t) => {
  t.is(typed(undefined, 'Bill.PDF'), 'application/pdf')
  t.is(typed('application/octet-stream', 'a/b.csv'), 'text/csv')
  t.is(typed('Application/Octet-Stream; x=y', 'a.png'), 'image/png')
  t.is(typed('', 'a.zip'), 'application/zip', 'the type that browsers send for unknown files')
  t.is(typed(undefined, 'a.unheard-of'), 'application/octet-stream')
  t.is(typed('text/plain', 'a.pdf'), 'text/plain', "the caller's type has priority")
})

test('attachmentsOf(): keeps parameters of a type except the name', (t) => {
  t.is(typed('Text/HTML; Charset=UTF-8'), 'text/html; charset=UTF-8')
  t.is(typed('text/plain;charset="iso-8859-1" ; format=flowed'), 'text/plain; charset="iso-8859-1"; format=flowed')
  t.is(typed('application/pdf; name="other.pdf"; version=1.7'), 'application/pdf; version=1.7')
  t.is(typed("application/pdf; name*=utf-8''other.pdf; title*0=a"), 'application/pdf')
  t.is(typed('text/plain; charset=utf-8; charset=utf-16'), 'text/plain; charset=utf-16')
  t.is(typed('multipart-lookalike/x; type=text/html'), 'multipart-lookalike/x; type="text/html"')
})

function refusalOf(run: () => unknown): Refusal {
  try {
    run()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}
const refusedTypes = (types: readonly string[]): unknown =>
  refusalOf(() => attachmentsOf(types.map((contentType) => given({ contentType })))).details?.['fields']

test('attachmentsOf(): refuses invalid types, naming their position', (t) => {
  const message = 'must be a media type such as application/pdf'
  const bad = [
    'pdf',
    'a/b\r\nX: y',
    'a/b; c',
    'a/b; c=',
    'a/b;',
    'a/b c',
    'a/b; c="d',
    'a/b; c="d\r\n"',
    '/',
    'a/b; c=ü',
    `a/${'b'.repeat(128)}`,
  ]
  t.deepEqual(
    refusedTypes(['text/plain', ...bad]),
    bad.map((_, i) => ({ path: `attachments[${i + 1}].content_type`, message })),
  )
})

test('attachmentsOf(): refuses structural types', (t) => {
  for (const type of ['multipart/mixed', 'Multipart/x; boundary=a', 'message/partial', 'message/external-body'])
    t.deepEqual(refusedTypes([type]), [
      {
        path: 'attachments[0].content_type',
        message: `must not be ${type.toLowerCase().replace(/;.*/, '')}, which describes structure, not a file; use application/octet-stream, or message/rfc822 for a whole message`,
      },
    ])
})

test('attachmentsOf(): limits the number of files', (t) => {
  t.is(attachmentsOf(Array.from({ length: 100 }, () => given())).length, 100)
  t.is(
    refusalOf(() => attachmentsOf(Array.from({ length: 101 }, () => given()))).message,
    'attachments: at most 100 files in one message; this one has 101',
  )
})

const partOf = (changes: Partial<GivenAttachment>) => {
  const [file] = attachmentsOf([given(changes)])
  if (!file) throw new Error('no file')
  const { headers, body } = runAtOnce(filePart(file))
  return {
    headers: headers.map((field) => field.replace(/;.*/s, '')),
    body: body.map((piece) => (Buffer.isBuffer(piece) ? piece.toString('latin1') : 'base64')),
  }
}
const message = 'From: a@b.test\r\nSubject: x\r\n\r\n.\r\nFrom here\r\n'

test('filePart(): leaves a message unencoded', (t) => {
  for (const contentType of ['message/rfc822', undefined])
    t.deepEqual(partOf({ filename: 'mail.eml', contentType, content: base64(message) }), {
      headers: ['Content-Type: message/rfc822', 'Content-Transfer-Encoding: 7bit', 'Content-Disposition: attachment'],
      body: [message],
    })
})

for (const [what, content] of [
  ['octets over 127', `${message}Gr\u00fc\u00dfe\r\n`],
  ['a bare LF', message.replaceAll('\r\n', '\n')],
  ['a bare CR', `${message}a\rb\r\n`],
  ['NUL', `${message}\0\r\n`],
  ['a line of 999', `${message}${'x'.repeat(999)}\r\n`],
  ['no header field', 'hello\r\n'],
  ['a header line without a field', 'From: a@b.test\r\nhello\r\n\r\n'],
  ['a folded line before its first field', ' folded\r\nFrom: a@b.test\r\n\r\n'],
  ['no end of its header', 'From: a@b.test\r\n'],
  ['an empty header', '\r\n\r\nhello'],
  ['nothing', ''],
] as const) {
  test(`filePart(): sends a message with ${what} as octets`, (t) => {
    t.deepEqual(partOf({ filename: 'mail.eml', contentType: 'message/rfc822', content: base64(content) }), {
      headers: ['Content-Type: application/octet-stream', 'Content-Transfer-Encoding: base64', 'Content-Disposition: attachment'],
      body: ['base64'],
    })
  })
}

test('filePart(): accepts a line of 998 octets in a message', (t) => {
  t.is(
    partOf({ contentType: 'message/rfc822', content: base64(`X: y\r\n\r\n${'x'.repeat(998)}`) }).headers[0],
    'Content-Type: message/rfc822',
  )
})
