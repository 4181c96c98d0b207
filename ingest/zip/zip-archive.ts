/**
 * Reads the files of a ZIP archive. The directory is checked first: links, encryption, overlapping files, implausible compression ratios
 * and archives beyond the limits are refused.
 */
import { crc32 } from 'node:zlib'
import { fromFd, type Entry, type ZipFile } from 'yauzl'

export interface ZippedFile {
  readonly path: string
  readonly size: number
  /** The octets, inflated on demand. Throws `ZipBroken` if their number differs from `size` or the checksum is wrong. */
  octets(): AsyncIterable<Buffer>
}

/** The archive cannot be used. The message completes "The archive …". */
export class ZipBroken extends Error {
  override readonly name = 'ZipBroken'
}

export interface ZipLimits {
  readonly entries: number
  readonly bytes: number
  readonly fileBytes: number
}

const linkMode = 0o120_000
const folderMode = 0o040_000
const fileMode = 0o100_000
const kindMask = 0o170_000
/** DEFLATE compresses at most 1032 to 1. Real files of more than 1 MiB stay far below that. */
const maxRatio = 200
const ratioFrom = 1_048_576
/** Limit for names, extra fields and comments together. The directory stays in memory until all files are extracted. */
const maxDirectoryBytes = 8 * 1_048_576
const stored = 0
const deflated = 8

/** Reads the directory. Keep the file open until all files are extracted. Throws `ZipBroken`. */
export async function readZip(fd: number, limits: ZipLimits): Promise<readonly ZippedFile[]> {
  const zip = await opened(fd)
  if (zip.entryCount > limits.entries) throw new ZipBroken(`has ${zip.entryCount} entries; the limit is ${limits.entries}`)
  const files: ZippedFile[] = []
  let [bytes, packed, directory] = [0, 0, 0]
  for await (const entry of entriesOf(zip)) {
    directory += entry.fileNameLength + entry.extraFieldLength + entry.fileCommentLength
    if (directory > maxDirectoryBytes) throw new ZipBroken('has more than 8 MiB of names and comments')
    if (isFolder(entry)) continue
    requirePlain(entry, limits)
    bytes += entry.uncompressedSize
    packed += entry.compressedSize
    if (bytes > limits.bytes) throw new ZipBroken(`exceeds ${Math.floor(limits.bytes / 1_048_576)} MiB when unpacked`)
    if (packed > zip.fileSize) throw new ZipBroken('has files that overlap')
    files.push({ path: entry.fileName, size: entry.uncompressedSize, octets: () => octetsOf(zip, entry) })
  }
  return files
}

function opened(fd: number): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true, decodeStrings: true }
  return new Promise((resolve, reject) => {
    fromFd(fd, options, (error, zip) => (error ? reject(broken(error)) : resolve(zip)))
  })
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      zip.removeAllListeners('entry').removeAllListeners('end').removeAllListeners('error')
      zip.once('entry', resolve)
      zip.once('end', () => resolve(undefined))
      zip.once('error', (error: Error) => reject(broken(error)))
      zip.readEntry()
    })
    if (!entry) return
    yield entry
  }
}

/** The file type from the Unix mode, or 0 if the archive was not created on Unix. */
const modeOf = ({ externalFileAttributes }: Entry): number => (externalFileAttributes >>> 16) & kindMask
const isFolder = (entry: Entry): boolean => entry.fileName.endsWith('/') || modeOf(entry) === folderMode

function requirePlain(entry: Entry, { fileBytes }: ZipLimits): void {
  const { fileName, uncompressedSize, compressedSize, compressionMethod } = entry
  const name = JSON.stringify(fileName.slice(0, 100))
  const mode = modeOf(entry)
  if (mode === linkMode) throw new ZipBroken(`has a symbolic link, ${name}; replace it with the file`)
  if (mode !== 0 && mode !== fileMode) throw new ZipBroken(`has an entry that is not a regular file, ${name}`)
  if (entry.isEncrypted()) throw new ZipBroken(`has an encrypted file, ${name}`)
  if (compressionMethod !== stored && compressionMethod !== deflated)
    throw new ZipBroken(`has ${name} compressed by method ${compressionMethod}; use DEFLATE`)
  if (uncompressedSize > fileBytes) throw new ZipBroken(`has a file of more than ${Math.floor(fileBytes / 1_048_576)} MiB, ${name}`)
  if (uncompressedSize > ratioFrom && uncompressedSize > compressedSize * maxRatio)
    throw new ZipBroken(`has ${name} with a compression ratio above ${maxRatio}; remove it`)
}

async function* octetsOf(zip: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  const stream = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
    zip.openReadStream(entry, (error, opening) => (error ? reject(broken(error)) : resolve(opening)))
  })
  let [left, checksum] = [entry.uncompressedSize, 0]
  try {
    for await (const chunk of stream) {
      left -= chunk.length
      if (left < 0) throw new ZipBroken(`has more octets in ${JSON.stringify(entry.fileName.slice(0, 100))} than its directory declares`)
      checksum = crc32(chunk, checksum)
      yield chunk
    }
  } catch (error) {
    throw broken(error as Error)
  }
  if (left > 0 || checksum !== entry.crc32) throw new ZipBroken(`has a damaged file, ${JSON.stringify(entry.fileName.slice(0, 100))}`)
}

const broken = (error: Error): ZipBroken =>
  error instanceof ZipBroken ? error : new ZipBroken(`cannot be read: ${error.message.slice(0, 200)}`, { cause: error })
