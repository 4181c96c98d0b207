/**
 * Counters and tallies with parts, in one group of writes. Usually the group adds to the part of its process and does not wait for other
 * processes. In three cases it locks and reads all parts: the own part has no room under a limit, a write would be refused, or a key is
 * deleted. It then distributes the remainder under the limit again. The ceilings of all parts never exceed the limit together, so limits
 * are exact.
 */
import type { Client } from 'pg'
import { kindOf, kinds, seal, sealCounter, sealParts, versionOf } from '../../engine/codec.ts'
import type { Operation } from '../../engine/group.ts'
import type { Bytes, Write, WriteResult } from '../../kv.ts'
import { encodeCounts } from '../../tally.ts'
import { keyName } from '../../tuple.ts'
import { countsOf, isInParts, readAllParts, totalOf, type Part, type PartChanges } from './part-rows.ts'
import type { PartedKeys } from './parted-keys.ts'

/** The group needs an exclusive lock for rows that it holds with FOR SHARE, so it starts again. */
export class NeedsWhole extends Error {}

/** Effect of a group on one counter, or on one value of counts. */
interface Counted {
  readonly key: Buffer
  readonly isTally: boolean
  /** Smallest limit of any add. */
  limit: number | undefined
  mostSubjects: number | undefined
  /** A write sets or deletes the whole value. */
  isReplaced: boolean
}

/** All parts of a key. `own`: the part of this process and parts of ended processes. */
interface Whole {
  readonly others: readonly Part[]
  readonly own: readonly Part[]
  readonly bound: number | null
}

export class GroupParts {
  readonly #known: PartedKeys
  readonly #counted: ReadonlyMap<string, Counted>
  /** Names of keys to lock FOR SHARE. */
  readonly #shared: ReadonlySet<string>
  readonly #own = new Map<string, Part>()
  readonly #whole = new Map<string, Whole>()
  #version = 0n

  constructor(writes: readonly Write[], known: PartedKeys) {
    this.#known = known
    this.#counted = countedIn(writes)
    this.#shared = new Set([...this.#counted].flatMap(([name, { isReplaced }]) => (!isReplaced && known.has(name) ? [name] : [])))
  }

  isShared(name: string): boolean {
    return this.#shared.has(name)
  }

  get sharedKeys(): Buffer[] {
    return [...this.#shared].flatMap((name) => this.#counted.get(name)?.key ?? [])
  }

  /** Accepts the parts of this process, and reads all parts of exclusively locked keys. Throws `NeedsWhole`. */
  async hold(client: Client, found: ReadonlyMap<string, Bytes>, own: readonly Part[], version: bigint): Promise<void> {
    this.#version = version
    this.#known.begin(version)
    for (const part of own) this.#own.set(keyName(part.key), part)
    const outgrown = [...this.#shared].filter((name) => !isInParts(found.get(name) ?? empty) || !this.#canUse(name))
    if (outgrown.length > 0) throw this.#needsWhole(outgrown)
    const alone = [...this.#counted].flatMap(([name, { key }]) =>
      !this.#shared.has(name) && isInParts(found.get(name) ?? empty) ? [{ name, key }] : [],
    )
    const read = Map.groupBy(await readAllParts(client, alone.map(({ key }) => key)), ({ key }) => keyName(key)) // prettier-ignore
    for (const { name } of alone) {
      const parts = read.get(name) ?? []
      const isOwn = ({ writer, lives }: Part & { readonly lives: boolean }): boolean => writer === this.#known.writer || !lives
      const bound = parts.find((part) => part.bound !== null)?.bound ?? null
      this.#whole.set(name, { others: parts.filter((part) => !isOwn(part)), own: parts.filter(isOwn), bound })
    }
  }

  /** Returns the value of a key as the group sees it. For a shared key, this is the part of this process. */
  look(name: string, stored: Bytes | undefined): Bytes | undefined {
    if (!stored || !isInParts(stored)) return stored
    if (this.#shared.has(name)) return this.#own.get(name)?.stored
    const { others = [], own = [] } = this.#whole.get(name) ?? {}
    if (kindOf(stored) === kinds.counterInParts) return sealCounter(versionOf(stored), totalOf([...others, ...own]))
    return seal(versionOf(stored), encodeCounts(countsOf(own)))
  }

  /** Returns the writes with the ceilings of parts as limits. */
  underCeilings(writes: readonly Write[]): readonly Write[] {
    const ceilings = new Map([...this.#shared].flatMap((name) => {
      const ceiling = this.#own.get(name)?.ceiling ?? null
      return ceiling === null || this.#counted.get(name)?.isTally ? [] : [[name, ceiling] as const]
    })) // prettier-ignore
    if (ceilings.size === 0) return writes
    return writes.map((write) => {
      const adds = write.adds.map((add) => {
        const limit = ceilings.get(keyName(add.key))
        return limit === undefined ? add : { ...add, limit }
      })
      return { ...write, adds }
    })
  }

  /** Throws `NeedsWhole` if the ceiling of a part refused a write, because the limit itself may not be reached. */
  confirm(results: readonly WriteResult[]): void {
    const refused = results.flatMap((result) => (!result.ok && result.reason === 'limit' ? [keyName(result.key)] : []))
    const inPart = refused.filter((name) => this.#shared.has(name))
    if (inPart.length > 0) throw this.#needsWhole(inPart)
  }

  /** Removes changes of parts from `last` and returns them. `last`: the last change of each key in the group. */
  divert(last: Map<string, Operation>, found: ReadonlyMap<string, Bytes>): PartChanges {
    const changes = { removed: [] as Buffer[], made: [] as Part[], updated: [] as { key: Bytes; stored: Bytes }[] }
    for (const [name, counted] of this.#counted) {
      const operation = last.get(name)
      if (!operation) continue
      if (this.#shared.has(name)) {
        changes.updated.push({ key: counted.key, stored: operation.value })
        last.delete(name)
        continue
      }
      const stored = found.get(name)
      const isSum = operation.type === 'put' && isCount(counted, operation.value)
      if (stored && isInParts(stored)) changes.removed.push(counted.key)
      if (!stored || !isSum || !this.#isToHaveParts(name, stored)) continue
      const { parts, isUseful } = this.#sharedOut(name, counted, operation.value)
      changes.made.push(...parts)
      if (isInParts(stored)) last.delete(name)
      else operation.value = sealParts(counted.isTally, versionOf(operation.value))
      if (isUseful) this.#known.add(name)
    }
    for (const [name, { key }] of last) {
      if (!this.#counted.has(name) && isInParts(found.get(name) ?? empty)) changes.removed.push(Buffer.from(key))
    }
    return changes
  }

  /** A counter gets parts if another process recently wrote it as one value. */
  #isToHaveParts(name: string, stored: Bytes): boolean {
    if (isInParts(stored)) return true
    const isCounter = kindOf(stored) === kinds.counter
    if (isCounter === this.#counted.get(name)?.isTally || this.#counted.get(name)?.isReplaced) return false
    return this.#known.isWanted(versionOf(stored), this.#version)
  }

  /** Returns all parts after the group. `isUseful`: a similar group could use the part of its process. */
  #sharedOut(name: string, counted: Counted, value: Bytes): { readonly parts: readonly Part[]; readonly isUseful: boolean } {
    const { key, isTally, isReplaced, limit, mostSubjects } = counted
    const { others, bound } = this.#whole.get(name) ?? { others: [], bound: null }
    const { writer } = this.#known
    const left = isReplaced ? [] : others
    if (isTally) return { parts: [...left, { key, writer, stored: value, ceiling: null, bound: mostSubjects ?? bound }], isUseful: true }
    const total = totalOf([{ stored: value }])
    const own: Part = { key, writer, stored: sealCounter(versionOf(value), total - totalOf(left)), ceiling: null, bound: null }
    const all = [...left, own]
    const most = limit ?? bound
    const share = most === null ? 0 : Math.floor((most - total) / all.length)
    const isBounded = most !== null && share >= 1
    const parts = all.map((part) => ({ ...part, ceiling: isBounded ? totalOf([part]) + share : null, bound: isBounded ? most : null }))
    return { parts, isUseful: limit === undefined || isBounded }
  }

  /** Returns whether the part of this process suits the group. `confirm` finds out later whether it has room. */
  #canUse(name: string): boolean {
    const [part, counted] = [this.#own.get(name), this.#counted.get(name)]
    if (!part || !counted) return false
    return counted.isTally || counted.limit === undefined || (part.bound !== null && part.bound <= counted.limit)
  }

  #needsWhole(names: readonly string[]): NeedsWhole {
    for (const name of names) this.#known.delete(name)
    return new NeedsWhole()
  }
}

const empty = Buffer.alloc(1)

const isCount = ({ isTally }: Counted, value: Bytes): boolean => kindOf(value) === (isTally ? kinds.inline : kinds.counter)

function countedIn(writes: readonly Write[]): ReadonlyMap<string, Counted> {
  const all = new Map<string, Counted>()
  const at = (key: Bytes, isTally: boolean): Counted => {
    const name = keyName(key)
    const known = all.get(name)
    if (known) return known
    const made = { key: Buffer.from(key), isTally, limit: undefined, mostSubjects: undefined, isReplaced: false }
    all.set(name, made)
    return made
  }
  for (const { adds, tallies = [] } of writes) {
    for (const { key, delta, limit } of adds) {
      const counted = at(key, false)
      if (limit !== undefined && delta > 0) counted.limit = Math.min(counted.limit ?? Infinity, limit)
    }
    for (const { key, maxSubjects } of tallies) at(key, true).mostSubjects = maxSubjects
  }
  for (const { sets, deletes } of writes) {
    for (const key of [...deletes, ...sets.map((setting) => setting.key)]) {
      const counted = all.get(keyName(key))
      if (counted) counted.isReplaced = true
    }
  }
  return all
}
