/** ZIP archives for tests, good ones and hostile ones. */
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly path: string
  readonly content?: Buffer | string
  /** Mode of Unix; that of a plain file by default. */
  readonly mode?: number
  /** In place of the true size. */
  readonly size?: number
  /** In place of the true checksum. */
  readonly checksum?: number
  /** General purpose flags; UTF-8 names by default. */
  readonly flags?: number
  readonly method?: number
}

const plainFile = 0o100_644
const utf8Names = 0x800
const madeOnUnix = 0x0314

/** An archive of these entries (APPNOTE 4.3), all compressed. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { path, content = '', mode = plainFile, size, checksum, flags = utf8Names, method = 8 } of entries) {
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
    tail.writeUInt32LE(offset, 10)
    const made = Buffer.alloc(2)
    made.writeUInt16LE(madeOnUnix, 0)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), made, common, tail, name]))
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

/** An archive of files by path. */
export const zipOfFiles = (files: Readonly<Record<string, Buffer | string>>): Buffer =>
  zipOf(Object.entries(files).map(([path, content]) => ({ path, content })))
