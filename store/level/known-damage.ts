/**
 * Known damage of the store in a folder. A file keeps it, because LevelDB reads damaged rows without an error and writes them into new
 * tables with correct checksums.
 */
import { access, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Damage, Rest } from '../engine/store-kv.ts'
import { StoreDamaged, type Bytes, type Range } from '../kv.ts'
import { checkFiles, type FileDamage } from './files/check-files.ts'
import { mendFiles } from './files/mend-files.ts'

const markIn = (folder: string): string => join(folder, 'damaged.json')
/** Marker file. It exists from the opening of a store with unchecked tables until the tables are checked. */
const uncheckedIn = (folder: string): string => join(folder, 'unchecked')
const files = 'records'
/** Folder for copies of files made before rows were removed from them. */
const keptFiles = 'damaged'

/** Form in the file; keys are hexadecimal. */
interface StoredDamage {
  readonly file: string
  readonly problem: string
  readonly keys?: { readonly from: string; readonly upTo: string }
  readonly isLost?: boolean
}

export class KnownDamage {
  readonly #folder: string
  #known: readonly FileDamage[]
  #inUse: ReadonlySet<string> = new Set()
  #isListDamaged = false
  /** The last check included the tables. */
  #isComplete = false
  /** Damaged large values by location, since the last check of all values. */
  readonly #values = new Map<string, FileDamage>()

  private constructor(folder: string, known: readonly FileDamage[]) {
    this.#folder = folder
    this.#known = known.filter(({ file }) => !isOfValues(file))
    for (const one of known) if (isOfValues(one.file)) this.#values.set(nameOf(one), one)
  }

  /** Reads the damage that earlier checks stored. */
  static async in(folder: string): Promise<KnownDamage> {
    return new KnownDamage(folder, await readMark(folder))
  }

  /** Damage of files in use comes first. */
  get all(): readonly Damage[] {
    const ofFiles = this.ofFiles
    return [...ofFiles.filter(({ isGone }) => !isGone), ...this.#ofValues(), ...ofFiles.filter(({ isGone }) => isGone)]
  }

  /** Without damage of large values, which each reader detects. */
  get ofFiles(): readonly Damage[] {
    return this.#known.map((one) => {
      const isGone = this.#isGone(one)
      return { isGone, sentence: sentenceOf(one, isGone) }
    })
  }

  #ofValues(): Damage[] {
    return [...this.#values.values()].map((one) => ({ isGone: false, isOfValue: true, sentence: sentenceOf(one, false) }))
  }

  #isGone({ file, isLost = false }: FileDamage): boolean {
    return isLost || (!this.#isListDamaged && !this.#inUse.has(file))
  }

  /** The list of files is damaged, so LevelDB must not open the folder. */
  get isListDamaged(): boolean {
    return this.#isListDamaged
  }

  /**
   * All tables must be checked before LevelDB opens them, for two reasons. A table has known damage, or the last process ended before its
   * check, as it does when LevelDB meets damage.
   */
  async isSuspect(): Promise<boolean> {
    return this.#known.some(({ file, isLost }) => file.endsWith('.ldb') && !isLost) || (await exists(uncheckedIn(this.#folder)))
  }

  /** Makes the next opening check the tables first, until they are checked. */
  async expectCheck(): Promise<void> {
    if (this.#isComplete) await this.endCheck()
    else await writeFile(uncheckedIn(this.#folder), '', { mode: 0o600 }).catch(() => undefined)
  }

  async endCheck(): Promise<void> {
    await rm(uncheckedIn(this.#folder), { force: true }).catch(() => undefined)
  }

  /** LevelDB has reported damage. */
  async suspect(): Promise<void> {
    this.#isComplete = false
    await this.expectCheck()
  }

  /** Damage of files in use that LevelDB would meet: it cannot open them, or they can end the process. */
  get unmended(): readonly Damage[] {
    return this.#known
      .filter((one) => !this.#isGone(one) && !isLog(one))
      .map((one) => ({ isGone: false, sentence: sentenceOf(one, false) }))
  }

  /** Returns the damage that a check finds now, without storing it. */
  static async look(folder: string): Promise<readonly Damage[]> {
    const known = await KnownDamage.in(folder)
    await known.#compare(() => {})
    return known.all
  }

  /** Compares the files with their checksums. Forgets a file that is whole again, as after a memory error. */
  async check(rest: Rest, maxTableBytes?: number): Promise<void> {
    const before = this.#stored()
    await this.#compare(rest, maxTableBytes)
    if (!this.#isListDamaged) await this.#write(before)
    if (this.#isComplete) await this.endCheck()
  }

  /** Repairs the damage of the last check, and checks again. The store must be closed. Returns a sentence for each correction. */
  async mend(maxTableBytes?: number): Promise<readonly string[]> {
    const found = this.#known.filter((one) => !this.#isGone(one))
    const corrections = await mendFiles(join(this.#folder, files), found, {
      keepIn: join(this.#folder, keptFiles),
      note: (lost) => this.#note(lost),
    })
    await this.check(() => {}, maxTableBytes)
    return corrections
  }

  /** Records that LevelDB will open the folder without the writes of damaged logs. */
  async loseWrites(): Promise<void> {
    const lost = this.#known.filter((one) => isLog(one) && !one.isLost)
    if (lost.length === 0) return
    this.#known = this.#known.filter((one) => !lost.includes(one))
    await this.#note(
      lost.filter((one) => !this.#known.some((known) => nameOf(known) === nameOf(one))).map((one) => ({ ...one, isLost: true })),
    )
  }

  /** A log in use is damaged. Its rows are also in memory. */
  get hasDamagedLog(): boolean {
    return this.#known.some((one) => isLog(one) && !one.isLost)
  }

  /** Throws if it cannot write the file, because removed rows must stay known. */
  async #note(lost: readonly FileDamage[]): Promise<void> {
    this.#known = [...this.#known, ...lost]
    await writeMark(this.#folder, this.#all().map(toStored))
  }

  /** Records a damaged large value, found by a reader or a check. */
  async noteValue(damage: FileDamage): Promise<void> {
    const before = this.#stored()
    this.#values.set(nameOf(damage), damage)
    await this.#write(before)
  }

  /** Replaces the damaged values by the result of a complete check. All other values are whole again or deleted. */
  async keepValues(found: readonly FileDamage[]): Promise<void> {
    const before = this.#stored()
    this.#values.clear()
    for (const one of found) this.#values.set(nameOf(one), one)
    await this.#write(before)
  }

  /** Forgets damage of files that are no longer in use, and removes the copies of repaired files. */
  async forget(): Promise<void> {
    const before = this.#stored()
    this.#known = this.#known.filter((one) => !this.#isGone(one))
    await this.#write(before)
    await rm(join(this.#folder, keptFiles), { recursive: true, force: true })
  }

  #all(): readonly FileDamage[] {
    return [...this.#known, ...this.#values.values()]
  }

  #stored(): string {
    return JSON.stringify(this.#all().map(toStored))
  }

  async #write(before: string): Promise<void> {
    if (this.#stored() === before) return
    // a disk that refuses writes must not hide the damage
    await writeMark(this.#folder, this.#all().map(toStored)).catch(() => undefined)
  }

  async #compare(rest: Rest, maxTableBytes?: number): Promise<void> {
    const { damage, isListDamaged, inUse, isComplete } = await checkFiles(join(this.#folder, files), rest, maxTableBytes)
    this.#isListDamaged = isListDamaged
    this.#isComplete = isComplete && !isListDamaged
    if (isListDamaged) {
      this.#known = [...damage, ...this.#known.filter(({ file }) => file !== damage[0]?.file)]
      return
    }
    this.#inUse = inUse
    // a log disappears when LevelDB has written its rows from memory into a table
    const isCompared = ({ file, isLost = false }: FileDamage): boolean =>
      !isLost && (isList(file) || file.endsWith('.log') || (inUse.has(file) && isComplete))
    this.#known = [...this.#known.filter((one) => !isCompared(one)), ...damage]
  }

  /** Throws `StoreDamaged` for a key whose row may be hidden. */
  requireReadable(key: Bytes): void {
    const hiding = this.#known.find(({ keys }) => keys && Buffer.compare(keys.from, key) <= 0 && Buffer.compare(key, keys.upTo) <= 0)
    if (hiding) throw hidden(hiding, key)
  }

  /** Throws `StoreDamaged` while writes of a damaged log may be missing, because their rows are unknown. */
  requireAllWrites(): void {
    const lost = this.#known.find((one) => one.isLost && one.keys === undefined)
    if (lost) throw hidden(lost)
  }

  /** Checks the rows of a range that must be complete. */
  guard({ start, end, reverse = false }: Range): RangeGuard {
    const inside = this.#known.filter(({ keys }) => keys && Buffer.compare(keys.from, end) < 0 && Buffer.compare(keys.upTo, start) >= 0)
    return new RangeGuard(inside, reverse)
  }
}

const isList = (file: string): boolean => file === 'CURRENT' || file.startsWith('MANIFEST')
const isLog = ({ file, problem }: FileDamage): boolean => file.endsWith('.log') && !problem.startsWith('cannot')
const isOfValues = (file: string): boolean => file.endsWith('.values')
const nameOf = ({ file, problem }: FileDamage): string => `${file} ${problem}`

const pathOf = (file: string): string => (isOfValues(file) ? `values/${file}` : `${files}/${file}`)

function sentenceOf({ file, problem, isLost = false }: FileDamage, isGone: boolean): string {
  if (!isGone) return `${pathOf(file)} ${problem}.`
  const before = `${pathOf(file)} ${problem.replace(/^is /, 'was ')}`
  if (isLost && file.endsWith('.log'))
    return `${before} when the store was opened. Its writes are lost; records may be missing or outdated.`
  if (isLost) return `${before}, and the start removed its rows. They are missing, or reads return an earlier version.`
  return `${before} at an earlier check. LevelDB has written its rows into other files since; some may be missing or wrong.`
}

/** Throws `StoreDamaged` as soon as a row is out of order, or damage could hide rows of the range. */
class RangeGuard {
  readonly #sign: number
  /** The first damage in the direction of the walk. `#border`: its first key. */
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

  /** Ends the walk. */
  end(): void {
    if (this.#first) throw hidden(this.#first)
  }
}

const hidden = ({ file, problem }: FileDamage, key?: Bytes): StoreDamaged =>
  new StoreDamaged(`The store is damaged, and rows may be missing: ${pathOf(file)} ${problem}. Run "postern verify".`, {
    ...(key && { key }),
  })

export const outOfOrder = (key: Bytes): StoreDamaged =>
  new StoreDamaged('The store is damaged: its rows are out of order. Run "postern verify".', { key })

const toStored = ({ file, problem, keys, isLost = false }: FileDamage): StoredDamage => ({
  ...{ file, problem },
  ...(isLost && { isLost }),
  ...(keys && { keys: { from: Buffer.from(keys.from).toString('hex'), upTo: Buffer.from(keys.upTo).toString('hex') } }),
})

const fromStored = ({ file, problem, keys, isLost = false }: StoredDamage): FileDamage => ({
  ...{ file, problem },
  ...(isLost && { isLost }),
  ...(keys && { keys: { from: Buffer.from(keys.from, 'hex'), upTo: Buffer.from(keys.upTo, 'hex') } }),
})

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

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
