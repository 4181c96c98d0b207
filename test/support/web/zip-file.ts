/** ZIP archives for tests, valid and hostile. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly path: string
  readonly content?: Buffer | string
  /** Unix mode; by default the mode of a plain file. */
  readonly mode?: number
  /** In place of the true size. */
  readonly size?: number
  /** In place of the true checksum. */
  readonly checksum?: number
  /** General purpose flags; UTF-8 names by default. */
  readonly flags?: number
  readonly method?: number
  /** Without own octets: its directory entry points at the octets of the previous entry. */
  readonly overlaps?: boolean
}

const plainFile = 0o100_644
const utf8Names = 0x800
const madeOnUnix = 0x0314

/** Returns an archive of these entries (APPNOTE 4.3), all compressed. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let [offset, last] = [0, 0]
  for (const { path, content = '', mode = plainFile, size, checksum, flags = utf8Names, method = 8, overlaps = false } of entries) {
    const [name, octets] = [Buffer.from(path), Buffer.from(content)]
    const packed = method === 8 ? deflateRawSync(octets) : octets
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(0x5a21_0000, 6)
    common.writeUInt32LE(checksum ?? crc32(octets), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size ?? octets.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(mode * 0x1_0000, 6)
    if (!overlaps) last = offset
    tail.writeUInt32LE(last, 10)
    const made = Buffer.alloc(2)
    made.writeUInt16LE(madeOnUnix, 0)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, common, tail, name]))
    if (overlaps) continue
    bodies.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, central, end])
}

/** Returns an archive of files by path. */
export const zipOfFiles = (files: Readonly<Record<string, Buffer | string>>): Buffer =>
  zipOf(Object.entries(files).map(([path, content]) => ({ path, content })))

/** Returns an archive with one file in the streaming format: sizes after the octets, in 64 bits (APPNOTE 4.3.9.2, 4.5.3). */
export function streamedZip(path: string, content: string): Buffer {
  const [name, octets] = [Buffer.from(path), Buffer.from(content)]
  const packed = deflateRawSync(octets)
  const start = Buffer.alloc(26)
  start.writeUInt16LE(45, 0)
  start.writeUInt16LE(utf8Names | 8, 2)
  start.writeUInt16LE(8, 4)
  start.writeUInt16LE(name.length, 22)
  const common = Buffer.from(start)
  common.writeUInt32LE(crc32(octets), 10)
  common.fill(0xff, 14, 22)
  common.writeUInt16LE(20, 24)
  const sizes = numbers64(octets.length, packed.length)
  const descriptor = Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), common.subarray(10, 14), numbers64(packed.length, octets.length)])
  const body = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), start, name, packed, descriptor])
  const tail = Buffer.alloc(14)
  const made = Buffer.from([0x2d, 3])
  const extra = Buffer.concat([Buffer.from([1, 0, 16, 0]), sizes])
  const central = Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, common, tail, name, extra])
  const end64 = Buffer.concat([
    ...[Buffer.from('PK\x06\x06', 'latin1'), numbers64(44), Buffer.from([0x2d, 3, 0x2d, 0]), Buffer.alloc(8)],
    numbers64(1, 1, central.length, body.length),
  ])
  const locator = Buffer.concat([
    ...[Buffer.from('PK\x06\x07', 'latin1'), Buffer.alloc(4), numbers64(body.length + central.length), Buffer.from([1, 0, 0, 0])],
  ])
  const end = Buffer.concat([Buffer.from('PK\x05\x06\0\0\0\0', 'latin1'), Buffer.alloc(12, 0xff), Buffer.alloc(2)])
  return Buffer.concat([body, central, end64, locator, end])
}

const numbers64 = (...numbers: readonly number[]): Buffer => {
  const octets = Buffer.alloc(8 * numbers.length)
  for (const [i, number] of numbers.entries()) octets.writeBigUInt64LE(BigInt(number), 8 * i)
  return octets
}
