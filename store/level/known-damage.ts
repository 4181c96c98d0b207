/**
 * What is known to be damaged in the store of a folder. It is kept in a file: LevelDB reads damaged rows without an error and writes them
 * into new tables, whose checksums are right.
 */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Damage, Rest } from '../engine/store-kv.ts'
import { StoreDamaged, type Bytes, type Range } from '../kv.ts'
import { checkFiles, type FileDamage } from './files/check-files.ts'

const markIn = (folder: string): string => join(folder, 'damaged.json')
const files = 'records'

/** As the file has it; keys are in hexadecimal. */
interface StoredDamage {
  readonly file: string
  readonly problem: string
  readonly keys?: { readonly from: string; readonly upTo: string }
}

export class KnownDamage {
  readonly #folder: string
  #known: readonly FileDamage[]
  #inUse: ReadonlySet<string> = new Set()
  #isListDamaged = false

  private constructor(folder: string, known: readonly FileDamage[]) {
    this.#folder = folder
    this.#known = known
  }

  /** As earlier checks have left it. */
  static async in(folder: string): Promise<KnownDamage> {
    return new KnownDamage(folder, await readMark(folder))
  }

  get all(): readonly Damage[] {
    return this.#known.map(({ file, problem }) => {
      const isGone = !this.#isListDamaged && !this.#inUse.has(file)
      const name = `${files}/${file}`
      const since = `${problem.replace(/^is /, 'was ')} at an earlier check. LevelDB has written its rows into other files since`
      return { isGone, sentence: isGone ? `${name} ${since}; some may be missing or wrong.` : `${name} ${problem}.` }
    })
  }

  /** LevelDB must not open the folder. */
  get isListDamaged(): boolean {
    return this.#isListDamaged
  }

  /** What a check would find now; nothing is noted. */
  static async look(folder: string): Promise<readonly Damage[]> {
    const known = await KnownDamage.in(folder)
    await known.#compare(() => {})
    return known.all
  }

  /** Compares the files with their checksums. A file that is whole again, as after a failure of memory, is forgotten. */
  async check(rest: Rest, maxTableBytes?: number): Promise<void> {
    const before = JSON.stringify(this.#known.map(toStored))
    await this.#compare(rest, maxTableBytes)
    const stored = this.#known.map(toStored)
    if (this.#isListDamaged || JSON.stringify(stored) === before) return
    await writeMark(this.#folder, stored).catch(() => undefined) // a disk that takes no writes must not hide what was found
  }

  async #compare(rest: Rest, maxTableBytes?: number): Promise<void> {
    const { damage, isListDamaged, inUse, isComplete } = await checkFiles(join(this.#folder, files), rest, maxTableBytes)
    this.#isListDamaged = isListDamaged
    if (isListDamaged) {
      this.#known = [...damage, ...this.#known.filter(({ file }) => file !== damage[0]?.file)]
      return
    }
    this.#inUse = inUse
    const isCompared = (file: string): boolean => inUse.has(file) && (isComplete || file.endsWith('.log'))
    this.#known = [...this.#known.filter(({ file }) => !isCompared(file)), ...damage]
  }

  /** Throws `StoreDamaged` for a key whose row may be hidden. */
  requireReadable(key: Bytes): void {
    const hiding = this.#known.find(({ keys }) => keys && Buffer.compare(keys.from, key) <= 0 && Buffer.compare(key, keys.upTo) <= 0)
    if (hiding) throw hidden(hiding)
  }

  /** Watches the rows of a range that is to be whole. */
  guard({ start, end, reverse = false }: Range): RangeGuard {
    const inside = this.#known.filter(({ keys }) => keys && Buffer.compare(keys.from, end) < 0 && Buffer.compare(keys.upTo, start) >= 0)
    return new RangeGuard(inside, reverse)
  }
}

/** Throws `StoreDamaged` as soon as a row is out of order, or damage could hide rows of the range. */
class RangeGuard {
  readonly #sign: number
  /** The damage that the walk meets first, and the key where it does. */
  readonly #first: FileDamage | undefined
  readonly #border: Bytes | undefined
  #last: Bytes | undefined

  constructor(damage: readonly FileDamage[], reverse: boolean) {
    this.#sign = reverse ? -1 : 1
    const borderOf = ({ keys }: FileDamage): Bytes => (reverse ? keys?.upTo : keys?.from) ?? Buffer.alloc(0)
    this.#first = damage.toSorted((a, b) => Buffer.compare(borderOf(a), borderOf(b)) * this.#sign)[0]
    this.#border = this.#first && borderOf(this.#first)
  }

  pass(key: Bytes): void {
    if (this.#last && Buffer.compare(this.#last, key) * this.#sign >= 0) throw outOfOrder(key)
    this.#last = key
    if (this.#border && this.#first && Buffer.compare(key, this.#border) * this.#sign >= 0) throw hidden(this.#first)
  }

  /** No row follows. */
  end(): void {
    if (this.#first) throw hidden(this.#first)
  }
}

const hidden = ({ file, problem }: FileDamage): StoreDamaged =>
  new StoreDamaged(`The store is damaged, and rows may be missing: ${files}/${file} ${problem}. Run "postern verify".`)

export const outOfOrder = (key: Bytes): StoreDamaged =>
  new StoreDamaged('The store is damaged: its rows are out of order. Run "postern verify".', { key })

const toStored = ({ file, problem, keys }: FileDamage): StoredDamage => ({
  ...{ file, problem },
  ...(keys && { keys: { from: Buffer.from(keys.from).toString('hex'), upTo: Buffer.from(keys.upTo).toString('hex') } }),
})

const fromStored = ({ file, problem, keys }: StoredDamage): FileDamage => ({
  ...{ file, problem },
  ...(keys && { keys: { from: Buffer.from(keys.from, 'hex'), upTo: Buffer.from(keys.upTo, 'hex') } }),
})

async function readMark(folder: string): Promise<FileDamage[]> {
  const text = await readFile(markIn(folder), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '[]'
    throw error
  })
  try {
    return (JSON.parse(text) as StoredDamage[]).map(fromStored)
  } catch {
    return [{ file: '../damaged.json', problem: 'cannot be read' }]
  }
}

async function writeMark(folder: string, known: readonly StoredDamage[]): Promise<void> {
  if (known.length === 0) return await rm(markIn(folder), { force: true })
  const file = await open(`${markIn(folder)}.tmp`, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(known, undefined, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${markIn(folder)}.tmp`, markIn(folder))
}
