/** Compares LevelDB's files with their checksums, which LevelDB does only for its logs. Changes nothing; the files may be in use. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Rest } from '../../engine/store-kv.ts'
import type { Bytes } from '../../kv.ts'
import { blocksOf, DamageFinder } from './log-records.ts'
import { isMissing, ListDamaged, readManifest, type Manifest, type TableEntry } from './manifest.ts'
import { damageInTable } from './table-file.ts'

/** A damaged file of the folder. */
export interface FileDamage {
  readonly file: string
  /** Ends a sentence that starts with the name of the file. */
  readonly problem: string
  /** Rows from one key to the other, both included, are unreliable. */
  readonly keys?: { readonly from: Bytes; readonly upTo: Bytes }
  /** A start has replaced the damaged block by an empty one, or LevelDB has skipped writes of the log. */
  readonly isLost?: boolean
}

export interface CheckedFiles {
  readonly damage: readonly FileDamage[]
  /** LevelDB does not notice a damaged list of files and then deletes files that are in use. */
  readonly isListDamaged: boolean
  /** Names of the files in use, if the list is readable. */
  readonly inUse: ReadonlySet<string>
  /** The check included the tables. */
  readonly isComplete: boolean
}

const emptyFolder: CheckedFiles = { damage: [], isListDamaged: false, inUse: new Set(), isComplete: true }

/** Skips the tables if their total size exceeds `maxTableBytes`. Always reads the list and the logs. */
export async function checkFiles(folder: string, rest: Rest, maxTableBytes = Infinity): Promise<CheckedFiles> {
  try {
    const manifest = await readManifest(folder)
    if (!manifest) return emptyFolder
    const tables = [...manifest.tables.values()]
    const logs = await logsOf(folder, manifest)
    const damage: FileDamage[] = []
    for (const log of logs) damage.push(...(await damageOfLog(folder, log, rest)))
    const bytes = tables.reduce((sum, { size }) => sum + size, 0)
    const isComplete = bytes <= maxTableBytes
    for (const table of isComplete ? tables : []) damage.push(...(await damageOfTable(folder, table, rest)))
    return { damage, isListDamaged: false, inUse: new Set([...logs, ...tables.map(nameOf)]), isComplete }
  } catch (error) {
    if (!(error instanceof ListDamaged)) throw error
    return { ...emptyFolder, damage: [{ file: error.file, problem: error.message }], isListDamaged: true }
  }
}

const nameOf = ({ number }: TableEntry): string => `${String(number).padStart(6, '0')}.ldb`

async function logsOf(folder: string, { log, previousLog }: Manifest): Promise<string[]> {
  const names = await readdir(folder)
  return names.filter((name) => {
    const number = /^\d+\.log$/.test(name) ? Number.parseInt(name, 10) : -1
    return number >= log || (number === previousLog && number > 0)
  })
}

async function damageOfLog(folder: string, file: string, rest: Rest): Promise<FileDamage[]> {
  const log = await contentOf(folder, file)
  if (!Buffer.isBuffer(log)) return log ? [log] : [] // LevelDB deletes a log after it has written its rows into a table
  const finder = new DamageFinder()
  for (const [block, start] of blocksOf(log)) {
    const at = finder.look(block, start)
    if (at !== undefined) return [{ file, problem: `is damaged at octet ${at}` }]
    await rest()
  }
  return []
}

async function damageOfTable(folder: string, table: TableEntry, rest: Rest): Promise<FileDamage[]> {
  const file = nameOf(table)
  const keys = { from: table.first, upTo: table.last }
  const content = (await contentOf(folder, file)) ?? (await contentOf(folder, file.replace(/ldb$/, 'sst')))
  if (content && !Buffer.isBuffer(content)) return [{ ...content, keys }]
  if (content) {
    const damage = await damageInTable(content, table, rest)
    return damage.map(({ at, ...range }) => ({ file, problem: `is damaged at octet ${at}`, keys: range }))
  }
  const now = await readManifest(folder)
  return now?.tables.has(table.number) ? [{ file, problem: 'is missing', keys }] : [] // LevelDB has written its rows into another table
}

/** Returns undefined for a missing file. */
async function contentOf(folder: string, file: string): Promise<Buffer | FileDamage | undefined> {
  try {
    return await readFile(join(folder, file))
  } catch (error) {
    return isMissing(error) ? undefined : { file, problem: `cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})` }
  }
}
