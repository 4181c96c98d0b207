/**
 * Decoding in one piece and in small pieces. An exclamation mark before an expectation means that the decoder reports invalid characters.
 */
import { buffer } from 'node:stream/consumers'
import { Readable, type Transform } from 'node:stream'
import test from '#test'
import { Base64Decoder, QuotedPrintableDecoder, UuDecoder, type BrokenNote } from '#ingest/mime/engine/octet-decoders.ts'

async function decoded(Decoder: new (note: BrokenNote) => Transform, text: string): Promise<string> {
  const octets = Buffer.from(text, 'latin1')
  const pieces = (size: number): Buffer[] =>
    Array.from({ length: Math.ceil(octets.length / size) }, (_, at) => octets.subarray(at * size, (at + 1) * size))
  const results = []
  for (const size of [octets.length || 1, 1, 3]) {
    let mark = ''
    const decoder = new Decoder(() => void (mark = '!'))
    const out = await buffer(Readable.from(pieces(size)).pipe(decoder))
    results.push(mark + out.toString('latin1'))
  }
  return [...new Set(results)].join(' or ')
}

const quoted: readonly (readonly [string, string])[] = [
  ['a=3D=E9=e9', 'a=\xe9\xe9'],
  ['soft=\r\nly=  \nbroken=', 'softlybroken'],
  ['blanks  \t\r\nat ends \n ', 'blanks\r\nat ends\n'],
  ['=4=ZZ=G1=1G\r\n=\xff', '!=4=ZZ=G1=1G\r\n=\xff'],
  ['a = b', '!a = b'],
  ['raw \xff\0', 'raw \xff\0'],
  ['', ''],
]
for (const [text, expected] of quoted)
  test(`QuotedPrintableDecoder decodes ${JSON.stringify(text)}`, async (t) => t.is(await decoded(QuotedPrintableDecoder, text), expected))

const base64: readonly (readonly [string, string])[] = [
  ['SGVs\r\nbG8=\r\n', 'Hello'],
  ['SG Vs\tbG8', 'Hello'],
  ['SGVsbG8=IHRoZXJl', 'Hello there'],
  ['SGVsbA==SGVsbG8=', 'HellHello'],
  ['////++++\n', '\xff\xff\xff\xfb\xef\xbe'],
  ['SGVsbG8=\r\n-- \r\n', '!Hello'],
  ['SG*VsbG8\xff=', '!Hello'],
  ['SGVsbG8=A', '!Hello'],
  ['A=A=', '!'],
  ['', ''],
]
for (const [text, expected] of base64)
  test(`Base64Decoder decodes ${JSON.stringify(text)}`, async (t) => t.is(await decoded(Base64Decoder, text), expected))

const uuencoded: readonly (readonly [string, string])[] = [
  ['begin 644 x\n#86)C\n#9&5F\n`\nend\n\n', 'abcdef'],
  ['begin 644 x\n#86)C\n#9&5F\n`\nend\nmore\n', '!abcdef'],
  ['\r\nbegin 0600 a b\r\n"86( \r\n \r\nend\r\n', 'ab'],
  ['text\r\nbegin 0600 a b\r\n"86( \r\n \r\nend\r\n', '!ab'],
  ['begin 644 x\n#86)C\nend\nbegin 644 y\n#86)C\nend\n', '!abc'],
  ['begin 644 x\n"86\n', 'a`'],
  ['begin 644 x\n#86)C', 'abc'],
  ['begin 644 x\nM\nM\n', '\0\0'],
  ['begin today\nno file\n', '!begin today\nno file\n'],
  [`${'x'.repeat(70_000)}\nbegin 644 x\n`, `!${'x'.repeat(70_000)}\nbegin 644 x\n`],
]
for (const [text, expected] of uuencoded)
  test(`UuDecoder decodes ${JSON.stringify(text.slice(0, 60))}`, async (t) => t.is(await decoded(UuDecoder, text), expected))
