/** Files in base64: accepted and refused text, and encoded lines. */
import test from '#test'
import { Base64File, octetsWithin } from '#core/submission/compose/base64.ts'
import { Seeded } from '../../../support/seeded.ts'

const octetsOf = (size: number): Buffer => Buffer.from(Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) % 256))
const parsed = (given: string): Base64File => {
  const file = Base64File.parse(given)
  if (file instanceof Base64File) return file
  throw new Error(file.fault)
}
const whole = (file: Base64File): string => Buffer.concat(Array.from(file.lines(), (each) => Buffer.from(each))).toString('latin1')

test('Base64File: accepts any length, line breaks and missing padding', (t) => {
  for (const size of [0, 1, 2, 3, 4, 56, 57, 58, 1000, 57 * 32_768 - 2, 57 * 32_768, 57 * 32_768 + 1]) {
    const octets = octetsOf(size)
    const digits = octets.toString('base64')
    for (const given of [
      digits,
      digits.replaceAll('=', ''),
      ` ${digits.replaceAll(/.{64}/g, '$&\r\n')}\n`,
      digits.replaceAll(/.{60}/g, '$&\t'),
    ]) {
      const file = parsed(given)
      t.is(file.size, size)
      t.true(file.decoded().equals(octets), `${size}`)
      const lines = whole(file)
      t.is(lines, digits.replaceAll(/.{1,76}/g, '$&\r\n'), `${size}`)
      t.is(file.encodedSize, lines.length, `${size}`)
    }
  }
})

test('Base64File: yields the lines of a large file in pieces', (t) => {
  const pieces = Array.from(parsed(octetsOf(5_000_000).toString('base64')).lines(), (each) => Buffer.from(each))
  t.true(pieces.length > 2 && pieces.every((piece) => piece.length < 3_000_000 && piece.subarray(-2).toString() === '\r\n'))
})

const shape = 'must be base64 (RFC 4648 §4)'
for (const [given, fault] of [
  ['YQ=', '; its length or its padding is wrong, for example because the end is missing'],
  ['=', '; its length or its padding is wrong, for example because the end is missing'],
  ['====', '; its length or its padding is wrong, for example because the end is missing'],
  ['Y===', '; its length or its padding is wrong, for example because the end is missing'],
  ['YWFhY', '; its length or its padding is wrong, for example because the end is missing'],
  ['YWFhYWFh=', '; its length or its padding is wrong, for example because the end is missing'],
  ['YR==', '; its last character has bits that belong to no octet, for example because the end is missing'],
  ['YR', '; its last character has bits that belong to no octet, for example because the end is missing'],
  ['YWJ=', '; its last character has bits that belong to no octet, for example because the end is missing'],
  ['YQ==YQ==', '; padding (=) is only allowed at the end'],
  ['Y=Q=', '; padding (=) is only allowed at the end'],
  ['Y_-=', '; character 2 is "_" of the URL-safe alphabet: write + instead of - and / instead of _'],
  ['YW\r\n-h', '; character 5 is "-" of the URL-safe alphabet: write + instead of - and / instead of _'],
  ['hello, world', '; character 6 is ","'],
  ['YWFh\0WFh', '; character 5 is U+0000'],
  ['YWFh\u202eWFh', '; character 5 is U+202E'],
  ['YWFh\u00a0', '; character 5 is U+00A0'],
  ['😀', '; character 1 is "😀"'],
  ['\ud800', '; character 1 is U+D800'],
  ['data:text/plain;base64,YQ==', ', not a data: URL; leave out everything up to the comma'],
] as const) {
  test(`Base64File refuses ${JSON.stringify(given)}`, (t) => t.deepEqual(Base64File.parse(given), { fault: shape + fault }))
}

test('Base64File: finds a single invalid character anywhere in a large file', (t) => {
  const digits = octetsOf(2_500_000).toString('base64')
  for (const at of [0, 76 * 32_768 - 1, 76 * 32_768, 3_200_000, digits.length - 1]) {
    const broken = `${digits.slice(0, at)}!${digits.slice(at + 1)}`
    t.deepEqual(Base64File.parse(broken), { fault: `${shape}; character ${at + 1} is "!"` })
  }
})

test('octetsWithin(): never exceeds the limit, and wastes less than a line per file', (t) => {
  const chance = new Seeded('sizes')
  for (let i = 0; i < 2000; i++) {
    const count = chance.between(1, 6)
    const encoded = chance.between(100 * count, 100_000)
    const total = octetsWithin(encoded, count)
    let left = total
    const sizes = Array.from({ length: count }, (_, at) => {
      const size = at === count - 1 ? left : chance.between(0, left)
      left -= size
      return size
    })
    const needed = sizes.reduce((sum, size) => sum + parsed(Buffer.alloc(size).toString('base64')).encodedSize, 0)
    t.true(needed <= encoded, `${sizes.join()} in ${encoded}`)
    t.true(Math.ceil(((total + 57 * count) * 78) / 57) > encoded)
  }
})

test('Base64File: accepts blank-free text exactly if Node.js round-trips it', (t) => {
  const seeded = new Seeded('base64 texts')
  const characters = Array.from('ABCDwxyz0189+/+/AAAQgw===-_.Ł\u0000é')
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: seeded.between(1, 9) }, () => seeded.pick(characters)).join('')
    const padded = text.padEnd(Math.ceil(text.length / 4) * 4, '=')
    const isEncoded = Buffer.from(padded, 'base64').toString('base64') === padded && (text === padded || !text.endsWith('='))
    t.is('size' in Base64File.parse(text), isEncoded, JSON.stringify(text))
  }
})
