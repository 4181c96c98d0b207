import { simpleParser } from 'mailparser'
import test from '#test'
import { textPart } from '#core/submission/compose/text-body.ts'
import { runAtOnce } from '#core/event-loop.ts'

const crlf = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n')

function partOf(text: string): string {
  const { headers, body } = runAtOnce(textPart('text/plain', text))
  return `${headers.join('\r\n')}\r\n\r\n${body.map(String).join('')}`
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
  test(`textPart() of ${title} is cut into pieces and reads as it was`, async (t) => {
    const part = partOf(text)
    t.regex(part, new RegExp(`Content-Transfer-Encoding: ${encoding}\r\n`))
    t.true(part.split('\r\n').every((line) => line.length <= 998))
    const { text: read = '' } = await simpleParser(Buffer.from(part))
    t.true(crlf(read).trimEnd() === crlf(text).trimEnd(), 'the text is another one')
  })
}

test('textPart() takes a step for every piece of a long text, and none for a short one', (t) => {
  t.is([...textPart('text/plain', 'hello')].length, 0)
  t.true([...textPart('text/plain', 'é\n'.repeat(500_000))].length > 10)
})
