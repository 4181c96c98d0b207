/**
 * Turns the writes that share one disk sync into one LevelDB batch: checks and counters are evaluated in order of
 * arrival against what the group itself has changed so far.
 */
import { joined, lengthOf, type Bytes, type Setting, type Tally, type Write, type WriteResult } from '../kv.ts'
import { addNames, decodeCounts, encodeCounts, foldSubjects, type Counts } from '../tally.ts'
import { keyName } from '../tuple.ts'
import { counterOf, kindOf, kinds, payloadOf, seal, sealCounter, sealPointer, versionOf, type Pointer } from './codec.ts'

/** Synchronous look-up of what is stored. */
export type Look = (key: Bytes) => Bytes | undefined

export interface Operation {
  readonly type: 'put' | 'del'
  readonly key: Bytes
  value: Bytes
  readonly isNew?: true | undefined
  readonly isCold?: true | undefined
}

/** A value that stands apart, and its place among the operations, to be filled in once it is known where the value stands. */
export interface LargeValue {
  readonly setting: Setting
  readonly key: Bytes
  readonly pieces: readonly Bytes[]
  readonly version: bigint
  readonly operation: Operation
}

/** The outcome of a group before it is on disk. */
export interface Plan {
  readonly results: readonly WriteResult[]
  readonly operations: Operation[]
  /** Values that go to where large ones stand first. */
  readonly large: readonly LargeValue[]
  readonly version: bigint
}

/** How much a plan writes. */
export interface GroupSize {
  /** Rows that are set or deleted, without those that a group writes about itself. */
  readonly rows: number
  /** Octets of their keys and values; a large value counts once, although it stands in the value log. */
  readonly bytes: number
}

interface Counter {
  readonly key: Bytes
  value: number
  changed: boolean
}

/** A value of counts that the group adds to. */
interface Tallied {
  readonly key: Bytes
  readonly counts: Counts
  readonly maxSubjects: number | undefined
}

/** What the writes of the group so far have changed. */
interface Changes {
  readonly look: Look
  /** Versions of keys; not kept when no later write could check them. */
  readonly versions: Map<string, bigint | undefined> | undefined
  readonly counters: Map<string, Counter>
  readonly tallied: Map<string, Tallied>
  readonly deleted: Set<string>
}

const nothing = Buffer.alloc(0)

export function planGroup(writes: readonly Write[], look: Look, lastVersion: bigint, maxInline: number): Plan {
  const checked = writes.length > 1 && writes.some((write) => write.checks.length > 0)
  const changes: Changes = {
    ...{ look, versions: checked ? new Map<string, bigint | undefined>() : undefined },
    ...{ counters: new Map<string, Counter>(), tallied: new Map<string, Tallied>(), deleted: new Set<string>() },
  }
  const operations: Operation[] = []
  const large: LargeValue[] = []
  const results: WriteResult[] = []
  let version = lastVersion
  for (const write of writes) {
    const refusal = failedCheck(write, changes) ?? failedLimit(write, changes)
    if (refusal) {
      results.push(refusal)
      continue
    }
    results.push({ ok: true, version: ++version })
    let sealedNothing: Bytes | undefined // index rows have no value, and there are many of them
    for (const key of write.deletes) {
      operations.push({ type: 'del', key, value: nothing })
      forget(key, changes)
    }
    for (const { key, delta } of write.adds) {
      const counter = counterAt(key, changes)
      counter.value += delta
      counter.changed = true
    }
    if (write.tallies) for (const tally of write.tallies) addTally(tally, changes)
    for (const setting of write.sets) {
      const { key, value, isNew, isCold } = setting
      const operation: Operation = { type: 'put', key, value: nothing, isNew, isCold }
      operations.push(operation)
      const isWhole = value instanceof Uint8Array
      if (value.length === 0) operation.value = sealedNothing ??= seal(version, nothing)
      else if ((isWhole ? value.length : lengthOf(value)) <= maxInline) operation.value = seal(version, isWhole ? value : joined(value))
      else large.push({ setting, key, pieces: isWhole ? [value] : value, version, operation })
      changes.versions?.set(keyName(key), version)
    }
  }
  for (const { key, value, changed } of changes.counters.values()) {
    if (changed) operations.push({ type: 'put', key, value: sealCounter(version, value) })
  }
  for (const { key, counts, maxSubjects } of changes.tallied.values()) {
    if (maxSubjects !== undefined) foldSubjects(counts, maxSubjects)
    operations.push({ type: 'put', key, value: seal(version, encodeCounts(counts)) })
  }
  return { results, operations, large, version }
}

/** Fills in the operations of a plan's large values. */
export function pointTo(large: readonly LargeValue[], pointers: readonly Pointer[]): void {
  for (const [i, { operation, version }] of large.entries()) {
    const pointer = pointers[i]
    if (pointer) operation.value = sealPointer(version, pointer)
  }
}

export function sizeOf({ operations, large }: Plan): GroupSize {
  let bytes = 0
  for (const { key, value } of operations) bytes += key.length + value.length
  for (const { pieces } of large) bytes += lengthOf(pieces)
  return { rows: operations.length, bytes }
}

function failedCheck(write: Write, { look, versions }: Changes): WriteResult | undefined {
  for (const { key, version } of write.checks) {
    const name = versions && keyName(key)
    const stored = name !== undefined && versions?.has(name) ? versions.get(name) : versionAt(look(key))
    if (stored !== version) return { ok: false, reason: 'conflict', key }
  }
  return undefined
}

/** Counters have no version that could be checked. */
const versionAt = (stored: Bytes | undefined): bigint | undefined =>
  stored && kindOf(stored) !== kinds.counter ? versionOf(stored) : undefined

function failedLimit(write: Write, changes: Changes): WriteResult | undefined {
  for (const add of write.adds) {
    const { key, delta, limit } = add
    if (limit === undefined || delta <= 0) continue
    let value = counterAt(key, changes).value + delta
    for (const earlier of write.adds) {
      if (earlier === add) break
      if (Buffer.compare(earlier.key, key) === 0) value += earlier.delta
    }
    if (value > limit) return { ok: false, reason: 'limit', key }
  }
  return undefined
}

function counterAt(key: Bytes, { look, counters, deleted }: Changes): Counter {
  const name = keyName(key)
  let counter = counters.get(name)
  if (!counter) counters.set(name, (counter = { key, value: deleted.has(name) ? 0 : counterOf(look(key)), changed: false }))
  return counter
}

function addTally({ key, names, delta = 1, maxSubjects }: Tally, { look, tallied, deleted }: Changes): void {
  const name = keyName(key)
  let one = tallied.get(name)
  if (!one) {
    const stored = deleted.has(name) ? undefined : look(key)
    tallied.set(name, (one = { key, counts: stored ? decodeCounts(payloadOf(stored)) : new Map<string, number>(), maxSubjects }))
  }
  addNames(one.counts, names, delta)
}

function forget(key: Bytes, { versions, counters, tallied, deleted }: Changes): void {
  const name = keyName(key)
  versions?.set(name, undefined)
  counters.delete(name)
  tallied.delete(name)
  deleted.add(name)
}
