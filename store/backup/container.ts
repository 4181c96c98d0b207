/**
 * A backup as a file: a line of JSON, then the compressed frames in chunks, each sealed with AES-256-GCM. The key depends on that line.
 * Each nonce contains the number of the chunk and a mark of the last one, so that no chunk can be changed, moved or removed.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { pipeline } from 'node:stream'
import { PassThrough, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'
import * as z from 'zod'
import { BackupDamaged, ByteReader } from './frames.ts'

const chunkBytes = 64 * 1024
const tagBytes = 16
const maxHeadBytes = 4096
const magic = 'postern-backup'
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 } as const

const headShape = z.strictObject({
  format: z.literal(magic),
  version: z.literal(1),
  id: z.string(),
  created_at: z.string(),
  /** Version of the last write in the backup. */
  until: z.string().regex(/^\d{1,20}$/),
  /** The earlier backup that an incremental backup continues. */
  since: z.strictObject({ id: z.string(), until: z.string() }).nullable(),
  /** With a passphrase. Without one, the chunks are sealed too, which reveals damage but keeps nothing secret. */
  encrypted: z.boolean(),
  salt: z.string(),
})

export type BackupHead = z.output<typeof headShape>

/** Returns whether a file with this start is a backup, which may be incomplete. */
export const isBackupStart = (start: string): boolean => start.startsWith(`{"format":"${magic}"`)

/** Does not validate the frames. Reading the backup throws `BackupDamaged` for invalid frames. */
export async function* sealBackup(
  head: Omit<BackupHead, 'format' | 'version' | 'encrypted' | 'salt'>,
  passphrase: string | undefined,
  frames: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const salt = randomBytes(16).toString('base64url')
  const whole: BackupHead = { format: magic, version: 1, ...head, encrypted: passphrase !== undefined, salt }
  const line = Buffer.from(`${JSON.stringify(whole)}\n`)
  const key = await keyOf(passphrase, line, salt)
  yield line
  const packed = new ByteReader(through(frames, createGzip({ level: 4 })))
  for (let number = 0; ; number++) {
    const chunk = await packed.readUpTo(chunkBytes)
    const isLast = !(await packed.isMore())
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(number, isLast))
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
    if (isLast) return
  }
}

/** Returns the first line and the frames. Throws `BackupDamaged`. */
export async function openBackup(
  bytes: AsyncIterable<Uint8Array>,
  passphrase: string | undefined,
): Promise<{ readonly head: BackupHead; readonly frames: AsyncIterable<Uint8Array> }> {
  const reader = new ByteReader(bytes)
  const { head, line } = await readHead(reader)
  if (head.encrypted && passphrase === undefined)
    throw new BackupDamaged('The backup is encrypted; give its passphrase in POSTERN_BACKUP_PASSPHRASE.')
  const key = await keyOf(head.encrypted ? passphrase : undefined, line, head.salt)
  return { head, frames: through(opened(reader, key, head.encrypted), createGunzip()) }
}

async function readHead(reader: ByteReader): Promise<{ readonly head: BackupHead; readonly line: Buffer }> {
  const found: Buffer[] = []
  for (let i = 0; i < maxHeadBytes; i++) {
    const byte = await reader.readUpTo(1)
    found.push(byte)
    if (byte.length === 0 || byte[0] === 10) break
  }
  const line = Buffer.concat(found)
  const { data } = headShape.safeParse(jsonOf(line))
  if (!data) throw new BackupDamaged('The file is not a Postern backup, or a newer release made it.')
  return { head: data, line }
}

async function* opened(reader: ByteReader, key: Uint8Array, isEncrypted: boolean): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    const sealed = await reader.readUpTo(chunkBytes + tagBytes)
    const isLast = !(await reader.isMore())
    const chunk = sealed.length < tagBytes ? undefined : openChunk(sealed, key, nonceOf(number, isLast))
    if (!chunk) {
      const isPassphrase = number === 0 && isEncrypted
      throw new BackupDamaged(isPassphrase ? 'The passphrase is wrong, or the backup is damaged.' : 'The backup is truncated or damaged.')
    }
    yield chunk
    if (isLast) return
  }
}

function openChunk(sealed: Buffer, key: Uint8Array, nonce: Uint8Array): Buffer | undefined {
  const cipher = createDecipheriv('aes-256-gcm', key, nonce)
  cipher.setAuthTag(sealed.subarray(-tagBytes))
  try {
    return Buffer.concat([cipher.update(sealed.subarray(0, -tagBytes)), cipher.final()])
  } catch {
    return undefined
  }
}

/** Each backup has a different key, so that chunk numbers can serve as nonces. */
async function keyOf(passphrase: string | undefined, line: Uint8Array, salt: string): Promise<Uint8Array> {
  const secret =
    passphrase === undefined
      ? Buffer.from(salt)
      : await promisify<string, string, number, typeof cost, Buffer>(scrypt)(passphrase, salt, 32, cost)
  return new Uint8Array(hkdfSync('sha256', secret, line, magic, 32))
}

function nonceOf(number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12)
  nonce.writeUIntBE(number, 2, 6)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Passes errors of the source on. An error of the transformation means damage. */
async function* through(source: AsyncIterable<Uint8Array>, transform: ReturnType<typeof createGzip>): AsyncGenerator<Uint8Array> {
  const out = new PassThrough()
  const failed = new Promise<Error | undefined>((resolve) => {
    pipeline(Readable.from(source, { objectMode: false }), transform, out, (error) => resolve(error ?? undefined))
  })
  try {
    yield* out as AsyncIterable<Uint8Array>
  } catch (error) {
    const cause = (await failed) ?? error
    throw cause instanceof Error && 'code' in cause && String(cause.code).startsWith('Z_')
      ? new BackupDamaged('The backup is damaged.')
      : cause
  }
}

function jsonOf(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
