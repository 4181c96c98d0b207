/**
 * Turns the writes of a group into one batch. Evaluates checks and counters in order of arrival, against stored values and earlier writes
 * of the group.
 */
import { joined, lengthOf, type Bytes, type Setting, type Tally, type Write, type WriteResult } from '../kv.ts'
import { addNames, decodeCounts, encodeCounts, foldSubjects, type Counts } from '../tally.ts'
import { keyName } from '../tuple.ts'
import { counterOf, kindOf, kinds, payloadOf, seal, sealCounter, sealPointer, versionOf, type Pointer } from './codec.ts'

/** Looks up a stored value synchronously. */
export type Look = (key: Bytes) => Bytes | undefined

export interface Operation {
  readonly type: 'put' | 'del'
  readonly key: Bytes
  value: Bytes
  readonly isNew?: true | undefined
  readonly isCold?: true | undefined
}

/** A value that is stored separately. Its operation is completed as soon as the location of the value exists. */
export interface LargeValue {
  readonly setting: Setting
  readonly key: Bytes
  readonly pieces: readonly Bytes[]
  readonly version: bigint
  readonly operation: Operation
}

/** Outcome of a group that is not written yet. */
export interface Plan {
  readonly results: readonly WriteResult[]
  readonly operations: Operation[]
  /** Values to write to the storage of large values before the batch. */
  readonly large: readonly LargeValue[]
  readonly version: bigint
}

/** Size of a plan. */
export interface GroupSize {
  /** Rows that are set or deleted, without rows that an engine adds about the group. */
  readonly rows: number
  /** Octets of keys and values. A large value counts once, although the value log contains it. */
  readonly bytes: number
}

interface Counter {
  readonly key: Bytes
  value: number
  changed: boolean
}

/** A value of counts that the group changes. */
interface Tallied {
  readonly key: Bytes
  readonly counts: Counts
  readonly maxSubjects: number | undefined
}

/** Changes by earlier writes of the group. */
interface Changes {
  readonly look: Look
  /** Versions of changed keys. Undefined if no later write of the group can check them. */
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
    let sealedNothing: Bytes | undefined // many index rows without a value share this
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

/** Completes the operations of large values. */
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

/** Returns undefined for a counter: counters have no version to check. */
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
