/** Encoded words (RFC 2047) of real and hostile senders. */
import test from '#test'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { Seeded } from '../../support/seeded.ts'
import { growsLinearly } from '../../support/measure/growth.ts'

const cases: readonly (readonly [string, string, string])[] = [
  ['leaves plain text alone', 'Hello = ?world?=', 'Hello = ?world?='],
  ['decodes Q with underscores as blanks', '=?UTF-8?Q?Gr=C3=BC=C3=9Fe_an_=41lle?=', 'Grüße an Alle'],
  ['decodes B', 'x =?utf-8?b?4pyT?= y', 'x ✓ y'],
  ['drops blanks between words', '=?utf-8?q?a?= \t =?utf-8?q?b?=', 'ab'],
  ['drops blanks between words of different character sets', '=?utf-8?q?=C3=A9?= =?iso-8859-1?q?=E9?=', 'éé'],
  ['keeps spaces next to plain text', 'a =?utf-8?q?b?= c', 'a b c'],
  ['joins a character split between a B and a Q word', '=?utf-8?B?4p==?= =?utf-8?Q?=9C=93?=', '✓'],
  ['joins octets of one character in two Q words', '=?utf-8?Q?=E2=9C?= =?UTF-8?Q?=93?=', '✓'],
  ['ignores a language (RFC 2231)', '=?us-ascii*en?q?hi?=', 'hi'],
  ['reads iso-2022-jp', '=?ISO-2022-JP?B?GyRCJCIbKEI=?=', 'あ'],
  ['decodes each word of iso-2022-jp alone', '=?iso-2022-jp?B?GyRCJCIbKEI=?= =?iso-2022-jp?B?GyRCJCIbKEI=?=', 'ああ'],
  ['decodes each word of iso-2022-kr alone', '=?iso-2022-kr?B?GyQpQw4wIQ8=?= =?iso-2022-kr?B?GyQpQw4wIQ8=?=', '가가'],
  ['decodes words of an unknown charset as UTF-8', '=?X-IAS-German?B?ZsO8cg==?=', 'für'],
  ['decodes words of an unknown charset as windows-1252', 'a =?x-nothing?q?=FC?= b', 'a ü b'],
  ['decodes words without a charset', '=??Q?f=FCr?=', 'für'],
  ['decodes words whose octets are not valid in their charset', '=?utf-8?q?f=FCr?= =?us-ascii?q?f=C3=BCr?=', 'fürfür'],
  ['keeps raw letters in words', '=?iso-8859-1?Q?J\u00fcrgen?= =?iso-8859-1?Q?_Schm=FC\u00fcrgen?=', 'J\u00fcrgen Schm\u00fc\u00fcrgen'],
  ['keeps words of an unknown encoding', '=?utf-8?x?abc?=', '=?utf-8?x?abc?='],
  ['keeps an unfinished word', '=?utf-8?q?abc', '=?utf-8?q?abc'],
  ['keeps a stray equals sign in Q', '=?utf-8?q?a=zz=4?=', 'a=zz=4'],
  ['tolerates blanks inside Q', '=?utf-8?q?a b?=', 'a b'],
  ['turns decoded line ends into blanks', '=?utf-8?q?a=0D=0ABcc:_x?=', 'a  Bcc: x'],
  ['turns bare controls into blanks', 'a\r\nb\u0000c\u2028d', 'a  b c d'],
  ['answers nothing for nothing', '', ''],
]

for (const [criterion, input, expected] of cases) {
  test(`decodeEncodedWords() ${criterion}`, (t) => t.is(decodeEncodedWords(input), expected))
}

test('decodeEncodedWords() is bounded and linear on hostile input', (t) => {
  for (const unit of ['=?', '=?a?', '=?utf-8?q?', '=?utf-8?q?a?=', '=?utf-8?q?a?= ', '=?' + 'x'.repeat(63), '?=']) {
    const decode = (size: number): string => decodeEncodedWords(unit.repeat(Math.ceil(size / unit.length)))
    t.true(decode(1_000_000).length <= 64 * 1024)
    t.true(growsLinearly(decode), unit)
  }
})

test('decodeEncodedWords() never throws and always returns one line', (t) => {
  const seeded = new Seeded('encoded words')
  const pieces = ['=?', '?=', '?', '=', 'utf-8', 'B', 'Q', 'q', '=E2=9C', '4pyT', ' ', '\t', '\r\n', '\ud800', 'é', '*en', 'utf-16', '_']
  for (let round = 0; round < 3000; round += 1) {
    const input = Array.from({ length: seeded.between(1, 20) }, () => seeded.pick(pieces)).join('')
    const output = decodeEncodedWords(input)
    t.false(/[\r\n\0]/.test(output) || !output.isWellFormed(), JSON.stringify(input))
  }
})
