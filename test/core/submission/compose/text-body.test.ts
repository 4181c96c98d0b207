import { simpleParser } from 'mailparser'
import test from '#test'
import { textPart } from '#core/submission/compose/text-body.ts'
import { runAtOnce } from '#core/event-loop.ts'
import { quotedPrintable } from '#core/submission/compose/text-encodings.ts'
import { Seeded, seedOf } from '../../../support/seeded.ts'

const crlf = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n')

function partOf(text: string): string {
  const { headers, body } = runAtOnce(textPart('text/plain', text))
  const octets = body.flatMap((piece) =>
    typeof piece === 'string' || Buffer.isBuffer(piece) ? [Buffer.from(piece)] : Array.from(piece.lines(), (each) => Buffer.from(each)),
  )
  return `${headers.join('\r\n')}\r\n\r\n${Buffer.concat(octets).toString('latin1')}`
}

const large: readonly (readonly [string, string, string])[] = [
  ['ASCII in lines', 'hello world\n'.repeat(20_000), '7bit'],
  ['ASCII in one line', 'x'.repeat(200_001), 'quoted-printable'],
  ['lines that end in CR alone', 'hello\r'.repeat(40_000), 'quoted-printable'],
  ['lines that end in CRLF', `${'x'.repeat(65_535)}\r\nyz${'a\r\n'.repeat(40_000)}`, 'quoted-printable'],
  ['characters of two units at every border', `x${'\u{1f600}'.repeat(100_000)}`, 'quoted-printable'],
  ['blanks at the end of lines and of pieces', ' '.repeat(131_072) + 'é \n'.repeat(50_000), 'quoted-printable'],
]
for (const [title, text, encoding] of large) {
  test(`textPart(): splits ${title} into pieces that read as the original`, async (t) => {
    const part = partOf(text)
    t.regex(part, new RegExp(`Content-Transfer-Encoding: ${encoding}\r\n`))
    t.true(part.split('\r\n').every((line) => line.length <= 998))
    const { text: read = '' } = await simpleParser(Buffer.from(part))
    t.true(crlf(read).trimEnd() === crlf(text).trimEnd(), 'the text is different')
  })
}

test('textPart(): knows the size of a long text before encoding', (t) => {
  for (const [, text] of large) {
    const [long] = runAtOnce(textPart('text/plain', text)).body
    if (typeof long !== 'object' || Buffer.isBuffer(long)) return t.fail('the text is encoded at once')
    t.is(Buffer.concat(Array.from(long.lines(), (each) => Buffer.from(each))).length, long.encodedSize)
    t.is(Buffer.concat(Array.from(long.lines(), (each) => Buffer.from(each))).length, long.encodedSize, 'for the second time')
  }
})

const usualSeed = 11
test('quoted-printable: follows RFC 2045 and decodes to the UTF-8 text with CRLF', (t) => {
  const seed = seedOf(usualSeed)
  const seeded = new Seeded(seed)
  const units = [
    'a',
    'word ',
    ' ',
    '\t',
    '=',
    '=3D',
    '.',
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\u007f',
    'é',
    '€',
    '😀',
    '\ud800',
    'x'.repeat(70),
    'é'.repeat(13),
  ]
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: seeded.between(0, 40) }, () => seeded.pick(units)).join('')
    const cut = seeded.chance(0.3)
    const octets = Buffer.from(text)
    const out = Buffer.alloc(quotedPrintable.room(octets.length))
    const size = quotedPrintable.write(out, octets, cut)
    t.true(size <= out.length)
    const encoded = out.toString('latin1', 0, size)
    const fault = `seed ${seed}, round ${round}: ${JSON.stringify(text)} became ${JSON.stringify(encoded)}`
    const lines = encoded.split('\r\n')
    t.true(
      lines.every((line) => /^(?:[!-<>-~ \t]|=[0-9A-F]{2})*=?$/.test(line) && line.length <= 76 && !/[ \t]$/.test(line)),
      fault,
    )
    t.true(!cut || encoded === '' || encoded.endsWith('\r\n'), fault)
    const decoded = encoded
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    t.is(decoded, Buffer.from(crlf(text)).toString('latin1'), fault)
    for (const line of lines) t.notRegex(line, /^=[89AB]/, `inside a character: ${fault}`)
  }
})

test('textPart(): takes one step per piece of a long text, and no step for a short one', (t) => {
  t.is([...textPart('text/plain', 'hello')].length, 0)
  t.true([...textPart('text/plain', 'é\n'.repeat(500_000))].length > 10)
})
