/** Creates the frames of a backup: a snapshot of the store, and the other files of the data folder. */
import { randomUUID } from 'node:crypto'
import { open, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { notePastBackup, requirePastBackup, type EarlierBackup } from '#store/backup/past-backups.ts'
import { encodeFrame, jsonFrame, rowFrame, type Begin } from '#store/backup/frames.ts'
import type { Rest, StoreKv } from '#store/engine/store-kv.ts'
import { StoreDamaged } from '#store/kv.ts'
import { formOf } from '#store/upgrade/store-form.ts'
import { storeFolder } from '../process/data-folder.ts'
import { examineKey, keyFile, keyText, sealedCheck, type KeyProblem, type KeySettings } from '../process/master-key.ts'
import { compiledFolder } from '../process/use-compiled.js'

const pieceBytes = 64 * 1024
const nothing = Buffer.alloc(0)

/** Files that belong to this run or machine. The daemon creates them again. */
const leftOut: ReadonlySet<string> = new Set(['ballast', 'operator.json', 'last-backup.json'])

interface Wanted {
  /** An earlier backup. Rows that have not changed since then are sent without their values. */
  readonly since: EarlierBackup | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Called between steps of the initial check of the store. */
  readonly rest?: Rest
  /** Settings of the master key, which must match the store. Without them, the backup does not contain the key. */
  readonly key?: KeySettings
  /** Key that the running daemon uses. The backup contains it even if its file is damaged. */
  readonly keyInUse?: Uint8Array
}

/** Facts about the master key in the backup, and the content of its file. */
interface KeyParts {
  readonly facts: Pick<Begin, 'sealed' | 'warning'>
  /** Undefined if the key is configured elsewhere. */
  readonly file: Buffer | undefined
}

/**
 * Returns the frames of a backup: one snapshot of the store, and the files at that time or later. If the store is damaged or the key does
 * not match it, the last frame reports the problem. Throws `UnknownBackup` if the earlier backup is of another store.
 */
export async function backupFrames(kv: StoreKv, dataDir: string, wanted: Wanted): Promise<AsyncGenerator<Uint8Array>> {
  if (wanted.since) await requirePastBackup(kv, wanted.since.id)
  return gathered(wholeFrames(kv, dataDir, wanted))
}

/** Yields the frames after a check of the store and the key. */
async function* wholeFrames(kv: StoreKv, dataDir: string, wanted: Wanted): AsyncGenerator<Buffer> {
  const { rest = () => {} } = wanted
  const noBackup = 'No backup was written. Earlier backups are unchanged.'
  try {
    const [damage] = await kv.check(rest)
    if (damage) throw new StoreDamaged(`The store is damaged: ${damage.sentence}`)
    const key = await keyParts(kv, dataDir, wanted)
    if ('problem' in key) yield brokenFrame(`${key.problem} ${noBackup}`)
    else yield* noted(kv, dataDir, wanted, key)
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error
    yield brokenFrame(`${error.message} ${noBackup} "postern verify" names all damage; restore the last good backup.`)
  }
}

const brokenFrame = (sentence: string): Buffer => encodeFrame({ type: 'broken', key: nothing, body: Buffer.from(sentence) })

/** Returns the checked key, so that later damage of its file does not reach the backup. Returns the problem if no key matches the store. */
async function keyParts(kv: StoreKv, dataDir: string, { key: configured, keyInUse }: Wanted): Promise<KeyParts | KeyProblem> {
  const sealed = configured && (await sealedCheck(kv))
  if (!configured || sealed === undefined) return { facts: {}, file: undefined }
  const isConfigured = configured.masterKey !== null
  const inFolder = await examineKey({ dataDir, masterKey: null, masterKeyFile: null }, sealed)
  const examined = isConfigured ? await examineKey({ dataDir, ...configured }, sealed) : inFolder
  if ('problem' in examined && !keyInUse) return examined
  const key = 'key' in inFolder ? inFolder.key : isConfigured ? undefined : keyInUse
  const warning = 'problem' in examined ? { warning: examined.problem } : {}
  return { facts: { sealed, ...warning }, file: key && Buffer.from(keyText(key)) }
}

async function* noted(kv: StoreKv, dataDir: string, { since, at }: Wanted, key: KeyParts): AsyncGenerator<Buffer> {
  const id = randomUUID()
  await notePastBackup(kv, id, at)
  yield* framesOf(kv, dataDir, { since: since?.until ?? 0n, id, key })
}

interface Framed {
  readonly since: bigint
  readonly id: string
  readonly key: KeyParts
}

async function* framesOf(kv: StoreKv, dataDir: string, { since, id, key }: Framed): AsyncGenerator<Buffer> {
  await using snapshot = await kv.snapshot(since)
  yield jsonFrame('begin', { version: String(snapshot.version), form: await formOf(kv), id, ...key.facts })
  let [rows, files] = [0, 0]
  for await (const row of snapshot.rows) {
    yield rowFrame(row)
    rows++
  }
  if (key.file) {
    yield fileFrame(keyFile, 0o600)
    yield encodeFrame({ type: 'piece', key: nothing, body: key.file })
    files++
  }
  for await (const path of filesIn(dataDir, dataDir)) {
    if (key.facts.sealed !== undefined && path === join(dataDir, keyFile)) continue
    const file = await open(path, 'r').catch(() => undefined) // deleted in the meantime
    if (!file) continue
    try {
      const { mode } = await file.stat()
      yield fileFrame(relative(dataDir, path), mode & 0o777)
      files++
      for (let piece = await nextPiece(file); piece.length > 0; piece = await nextPiece(file))
        yield encodeFrame({ type: 'piece', key: nothing, body: piece })
    } finally {
      await file.close()
    }
  }
  yield jsonFrame('end', { rows, files })
}

const fileFrame = (path: string, mode: number): Buffer =>
  encodeFrame({ type: 'file', key: Buffer.from(path), body: Buffer.from(JSON.stringify({ mode })) })

async function nextPiece(file: Awaited<ReturnType<typeof open>>): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes)
  return buffer.subarray(0, bytesRead)
}

async function* filesIn(folder: string, dataDir: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === storeFolder(dataDir) || path === compiledFolder(dataDir)) continue
    if (entry.isDirectory()) yield* filesIn(path, dataDir)
    else if (entry.isFile() && !entry.name.endsWith('.tmp') && !(folder === dataDir && leftOut.has(entry.name))) yield path
  }
}

/** Joins small frames, to avoid a separate write for each. */
async function* gathered(frames: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let waiting: Buffer[] = []
  let size = 0
  for await (const frame of frames) {
    waiting.push(frame)
    size += frame.length
    if (size < pieceBytes) continue
    yield Buffer.concat(waiting)
    waiting = []
    size = 0
  }
  yield Buffer.concat(waiting)
}
