/** What one process remembers of counters in parts: which keys are, and which of its own groups wrote last. */
import { versionsAtOnce } from '../schema.ts'

/** A counter that another process wrote among so many groups of writes before is one that both want often. */
const recentGroups = 64
/** When there are more, it begins anew: what is not remembered is looked at once more. */
const maxKeys = 10_000

export class PartedKeys {
  readonly writer: string
  readonly #always: boolean
  readonly #keys = new Set<string>()
  /** The first version of each of this process's latest groups, the latest first. */
  #own: bigint[] = []
  #first: bigint | undefined

  /** `always`: every counter has parts, however rarely it is written. */
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

  /** A group of this process has the versions behind this one. */
  begin(version: bigint): void {
    this.#first ??= version
    this.#own = [version, ...this.#own.slice(0, recentGroups - 1)]
  }

  /** Whether a counter of this version, which a group with the versions behind `now` finds, is to have parts. */
  isWanted(version: bigint, now: bigint): boolean {
    if (this.#always) return true
    const span = BigInt(versionsAtOnce)
    if (this.#first === undefined || version <= this.#first || version < now - BigInt(recentGroups) * span) return false
    return !this.#own.some((first) => version > first && version <= first + span)
  }
}
