/** Lists the files in a ZIP archive, including Office documents, from its directory. Nothing is unpacked. */

interface ArchivedFile {
  readonly name: string
  readonly isEncrypted: boolean
}

const maxFiles = 5000
/** The end record is at the end of the archive, before a comment of at most 64 KiB. */
const maxEnd = 22 + 65_535

/**
 * Returns the files in the directory, or the first file if the archive has no directory. Empty if the octets are not an archive. Never
 * throws.
 */
export function archivedFiles(octets: Buffer): ArchivedFile[] {
  if (!isAt(octets, 0, 3, 4)) return []
  const tail = octets.subarray(-maxEnd)
  const end = tail.lastIndexOf(Buffer.of(0x50, 0x4b, 5, 6))
  const files: ArchivedFile[] = []
  let at = end >= 0 && end + 20 <= tail.length ? tail.readUInt32LE(end + 16) : octets.length
  while (isAt(octets, at, 1, 2) && at + 46 <= octets.length && files.length < maxFiles) {
    const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((place) => octets.readUInt16LE(at + place))
    files.push(fileOf(octets, { flags: at + 8, name: at + 46, length: name }))
    at += 46 + name + extra + comment
  }
  if (files.length === 0 && octets.length >= 30) return [fileOf(octets, { flags: 6, name: 30, length: octets.readUInt16LE(26) })]
  return files
}

/** Reports whether a record of that kind begins at the offset. */
const isAt = (octets: Buffer, at: number, ...kind: readonly number[]): boolean =>
  octets.subarray(at, at + 4).equals(Buffer.of(0x50, 0x4b, ...kind))

interface Places {
  readonly flags: number
  readonly name: number
  readonly length: number
}

const fileOf = (octets: Buffer, { flags, name, length }: Places): ArchivedFile => ({
  name: octets.toString('latin1', name, name + length),
  isEncrypted: (octets.readUInt16LE(flags) & 1) === 1,
})
