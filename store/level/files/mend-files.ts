/** Repairs the files of a closed store in place: corrects flipped bits, and replaces other damaged blocks of rows by empty blocks. */
import { copyFile, mkdir, open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileDamage } from './check-files.ts'
import type { Bit } from './crc32c.ts'
import { bitInRecord, blockBytes, firstDamage } from './log-records.ts'
import { readManifest } from './manifest.ts'
import { mendTable } from './mend-table.ts'

export interface Mending {
  /** Folder for copies of files before rows are removed from them. */
  readonly keepIn: string
  /** Records lost rows before the file is changed. */
  readonly note: (lost: readonly FileDamage[]) => Promise<void>
}

/** Returns a sentence for each file with corrected bits. The next check finds damage that remains. */
export async function mendFiles(folder: string, damage: readonly FileDamage[], mending: Mending): Promise<string[]> {
  const sentences: string[] = []
  const files = [...new Set(damage.map(({ file }) => file))]
  for (const file of files) {
    const corrected = file.endsWith('.ldb') ? await mendTableIn(folder, file, mending) : await mendLogIn(folder, file)
    if (corrected.length > 0) sentences.push(sentenceOf(file, corrected))
  }
  return sentences
}

const sentenceOf = (file: string, corrected: readonly number[]): string =>
  `records/${file} had ${corrected.length === 1 ? 'a flipped bit' : `${corrected.length} flipped bits`} at octet ${corrected.join(', ')}.`

async function mendTableIn(folder: string, file: string, { keepIn, note }: Mending): Promise<readonly number[]> {
  const manifest = await readManifest(folder)
  const entry = manifest?.tables.get(Number.parseInt(file, 10))
  const path = await pathOf(folder, file)
  const table = await readFile(path).catch(() => undefined)
  if (!entry || !table) return []
  const mended = await mendTable(table, entry)
  if (!mended) return []
  const { content, corrected, emptied } = mended
  if (emptied.length > 0) {
    await note(emptied.map(({ at, from, upTo }) => ({ file, problem: `is damaged at octet ${at}`, keys: { from, upTo }, isLost: true })))
    await keep(path, keepIn, file)
  }
  await overwrite(path, content)
  return corrected
}

/** Returns the path of a file. Earlier versions of LevelDB named tables differently. */
async function pathOf(folder: string, file: string): Promise<string> {
  const names = await readdir(folder)
  return join(folder, names.includes(file) ? file : file.replace(/ldb$/, 'sst'))
}

/** Copies are for people, so a full disk does not stop the repair. */
async function keep(path: string, keepIn: string, file: string): Promise<void> {
  try {
    await mkdir(keepIn, { recursive: true, mode: 0o700 })
    await copyFile(path, join(keepIn, file))
  } catch {
    return
  }
}

/** Repairs the write-ahead log or the list of files. Changes the file only if it can correct all damage. */
async function mendLogIn(folder: string, file: string): Promise<readonly number[]> {
  if (file === 'CURRENT') return await mendCurrent(folder)
  const log = await readFile(join(folder, file)).catch(() => undefined)
  const corrected: number[] = []
  for (let at = log && firstDamage(log); log && at !== undefined; at = firstDamage(log)) {
    const bit = bitAt(log, at)
    if (!bit) return []
    log[bit.at] = (log[bit.at] ?? 0) ^ bit.mask
    corrected.push(bit.at)
  }
  if (log && corrected.length > 0) await overwrite(join(folder, file), log)
  return corrected
}

function bitAt(log: Buffer, at: number): Bit | undefined {
  const start = at - (at % blockBytes)
  const bit = bitInRecord(log.subarray(start, start + blockBytes), at - start)
  return bit && { at: start + bit.at, mask: bit.mask }
}

/** Repairs CURRENT if it has one flipped bit in the name of an existing MANIFEST. */
async function mendCurrent(folder: string): Promise<readonly number[]> {
  const path = join(folder, 'CURRENT')
  const current = await readFile(path).catch(() => undefined)
  for (const name of current ? await readdir(folder) : []) {
    const right = Buffer.from(`${name}\n`)
    if (!/^MANIFEST-\d+$/.test(name) || right.length !== current?.length) continue
    const wrong = [...right.keys()].filter((at) => right[at] !== current[at])
    const [at = 0] = wrong
    const difference = (right[at] ?? 0) ^ (current[at] ?? 0)
    if (wrong.length !== 1 || (difference & (difference - 1)) !== 0) continue
    await overwrite(path, right)
    return [at]
  }
  return []
}

/** Overwrites the file in place, because a full disk must not prevent a repair. Resolves when the content is durable. */
async function overwrite(path: string, content: Buffer): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (let at = 0; at < content.length;) at += (await file.write(content, at, content.length - at, at)).bytesWritten
    await file.sync()
  } finally {
    await file.close()
  }
}
