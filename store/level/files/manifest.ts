/** List of files with LevelDB's tables. The file CURRENT names a MANIFEST, which is a log of changes to the list. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bytes } from '../../kv.ts'
import { FieldReader } from './field-reader.ts'
import { firstDamage, recordsIn } from './log-records.ts'

export interface TableEntry {
  readonly number: number
  readonly size: number
  /** Keys of the first and the last row. */
  readonly first: Bytes
  readonly last: Bytes
}

export interface Manifest {
  readonly tables: ReadonlyMap<number, TableEntry>
  /** Logs from this number on are in use, and `previousLog`. */
  readonly log: number
  readonly previousLog: number
}

/** The list of files is damaged. LevelDB must not open the folder, because it deletes files that are not in the list. */
export class ListDamaged extends Error {
  override readonly name = 'ListDamaged'
  readonly file: string

  /** `problem` ends a sentence that starts with the name of the file. */
  constructor(file: string, problem: string) {
    super(problem)
    this.file = file
  }
}

/** Sequence number and type, which LevelDB adds to each key. */
const trailerBytes = 8

export const keyWithin = (internalKey: Buffer): Bytes => internalKey.subarray(0, Math.max(0, internalKey.length - trailerBytes))

/** Returns undefined for a folder without a store. Throws `ListDamaged`. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const name = await currentManifest(folder)
  if (name === undefined) return undefined
  const log = await readFile(join(folder, name)).catch((error: unknown) => {
    if (isMissing(error)) throw new ListDamaged('CURRENT', `names the file ${name}, which is missing`)
    throw error
  })
  const at = firstDamage(log)
  if (at !== undefined) throw new ListDamaged(name, `is damaged at octet ${at}`)
  try {
    const manifest = { tables: new Map<number, TableEntry>(), log: 0, previousLog: 0 }
    for (const record of recordsIn(log)) apply(manifest, new FieldReader(record))
    return manifest
  } catch (error) {
    if (error instanceof RangeError) throw new ListDamaged(name, 'has a record that cannot be read')
    throw error
  }
}

export const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

async function currentManifest(folder: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(folder, 'CURRENT'), 'latin1')
    if (/^MANIFEST-\d+\n$/.test(text)) return text.trimEnd()
    throw new ListDamaged('CURRENT', 'does not hold the name of a MANIFEST')
  } catch (error) {
    if (!isMissing(error)) throw error
    const names = await readdir(folder).catch((): string[] => [])
    if (names.some((name) => /\.(?:ldb|sst)$/.test(name))) throw new ListDamaged('CURRENT', 'is missing')
    return undefined
  }
}

type Growing = { tables: Map<number, TableEntry>; log: number; previousLog: number }

/** Applies one change of the list. The numbers of its fields come from LevelDB's version_edit.cc. */
function apply(manifest: Growing, fields: FieldReader): void {
  while (fields.left > 0) {
    switch (fields.number()) {
      case 1: // the name of the key order
        fields.counted()
        break
      case 2:
        manifest.log = fields.number()
        break
      case 3: // the number of the next file
      case 4: // the number of the last row
        fields.number()
        break
      case 5: // the level and the key to compact next
        fields.number()
        fields.counted()
        break
      case 6:
        fields.number()
        manifest.tables.delete(fields.number())
        break
      case 7: {
        fields.number()
        const [number, size] = [fields.number(), fields.number()]
        manifest.tables.set(number, { number, size, first: keyWithin(fields.counted()), last: keyWithin(fields.counted()) })
        break
      }
      case 9:
        manifest.previousLog = fields.number()
        break
      default:
        throw new RangeError('A field of the list is unknown.')
    }
  }
}
