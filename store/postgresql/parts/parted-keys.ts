/** Memory of one process about counters with parts: their keys, and its latest groups. */
import { versionsAtOnce } from '../schema.ts'

/** A counter gets parts if another process wrote it within this number of groups. */
const recentGroups = 64
/** Largest number of remembered keys. The memory is cleared beyond it, and forgotten keys cost another read. */
const maxKeys = 10_000

export class PartedKeys {
  readonly writer: string
  readonly #always: boolean
  readonly #keys = new Set<string>()
  /** Version that precedes each of the latest groups of this process, newest first. */
  #own: bigint[] = []
  #first: bigint | undefined

  /** `always`: every counter has parts, even if it is written rarely. */
  constructor(writer: string, always: boolean) {
    this.writer = writer
    this.#always = always
  }

  has(name: string): boolean {
    return this.#keys.has(name)
  }

  add(name: string): void {
    if (this.#keys.size >= maxKeys) this.#keys.clear()
    this.#keys.add(name)
  }

  delete(name: string): void {
    this.#keys.delete(name)
  }

  /** Records a group of this process, whose versions follow this version. */
  begin(version: bigint): void {
    this.#first ??= version
    this.#own = [version, ...this.#own.slice(0, recentGroups - 1)]
  }

  /**
   * Returns whether a counter should get parts. `version`: version of its value. `now`: the version that the versions of the group follow.
   */
  isWanted(version: bigint, now: bigint): boolean {
    if (this.#always) return true
    const span = BigInt(versionsAtOnce)
    if (this.#first === undefined || version <= this.#first || version < now - BigInt(recentGroups) * span) return false
    return !this.#own.some((first) => version > first && version <= first + span)
  }
}
