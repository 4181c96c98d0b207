/** CRC-32C and Snappy for LevelDB's files. */
import test from '#test'
import { crc32c, flippedBit, masked } from '#store/level/files/crc32c.ts'
import { inflateSnappy } from '#store/level/files/snappy.ts'
import { Seeded } from '../../../support/seeded.ts'

test('crc32c(): has the values of RFC 3720 B.4', (t) => {
  t.is(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.is(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
  t.is(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i))), 0x46dd794e)
  t.is(crc32c(Buffer.from('xx123456789x'), 2, 11), 0xe3069283)
})

test('flippedBit(): finds one flipped bit of octets or checksum, but not two', (t) => {
  const seeded = new Seeded('bits')
  const bytes = seeded.bytes(100)
  bytes.writeUInt32LE(masked(crc32c(bytes, 10, 90)), 90)
  const find = () => flippedBit(bytes, 10, 90, 90)
  t.is(find(), undefined)
  const flip = (bit: number): void => void (bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7)))
  for (let bit = 80; bit < 752; bit++) {
    flip(bit)
    t.deepEqual(find(), { at: bit >> 3, mask: 1 << (bit & 7) }, `bit ${bit}`)
    flip(bit === 80 ? 81 : 80)
    t.is(find(), undefined, `bit ${bit} and another`)
    flip(bit === 80 ? 81 : 80)
    flip(bit)
  }
})

test('inflateSnappy(): reads literals and copies of each form', (t) => {
  // a literal of 4 octets, a copy of 8 with a distance of 4, and a copy of 3 whose distance has two octets
  t.is(inflateSnappy(Buffer.from([15, 0x0c, 97, 98, 99, 100, 0x11, 4, 0x0a, 12, 0])).toString(), 'abcdabcdabcdabc')
  // a literal with its length in an octet, and a copy by a distance of four octets
  const long = Buffer.alloc(70, 'z')
  t.is(inflateSnappy(Buffer.from([71, 0xf0, 69, ...long, 0x03, 70, 0, 0, 0])).toString(), 'z'.repeat(71))
})

test('inflateSnappy(): refuses invalid input', (t) => {
  const wrong: readonly (readonly number[])[] = [
    [5, 0x0c, 97, 98, 99, 100],
    [3, 0x0c, 97, 98, 99, 100],
    [4, 0x0c, 97],
    [8, 0x00, 97, 0x0d, 2],
    [8, 0x00, 97, 0x0d, 0],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0xff, 0xff, 0xff, 0xff, 0x0f],
    [],
  ]
  for (const bytes of wrong) t.throws(() => inflateSnappy(Buffer.from(bytes)), { instanceOf: RangeError }, JSON.stringify(bytes))
})
