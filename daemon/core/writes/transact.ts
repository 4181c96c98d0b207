/**
 * Optimistic transactions: a write commits only if the records it was based on are unchanged; otherwise it is decided again. Bounds the
 * number of tries.
 */
import { isDeepStrictEqual } from 'node:util'
import { Change } from '#store/change.ts'
import type { Database, Visibility } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { keyName, type Element } from '#store/tuple.ts'
import type { Clock } from '../clock.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import { Refusal } from '../refusals.ts'

/** Each try of concurrent writers lets at least one succeed. The others retry this often before they queue. */
const triesTogether = 3
/** A queued writer only competes with new writers, and with writers that do not queue. */
const triesInTurn = 100

/** A change that records its reads. It is not written if a read record has changed or was deleted. */
export class Transaction extends Change {
  /** Errors to throw if a counter would exceed its limit, by the name of its key (`keyName`). */
  readonly limits = new Map<string, () => Refusal>()
  readonly #database: Database
  readonly #reach: Visibility

  constructor(database: Database, reach: Visibility) {
    super()
    this.#database = database
    this.#reach = reach
  }

  /** The absence of a record is not checked, except for records that this write inserts. */
  async get<R extends Identified>(kind: RecordKind<R>, id: string): Promise<Stored<R> | undefined> {
    return this.#noted(kind, await this.#database.get(kind, this.#reach, id))
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async must<R extends Identified>(kind: RecordKind<R>, id: string): Promise<Stored<R>> {
    return this.#noted(kind, await must(this.#database, kind, this.#reach, id))
  }

  /** Finds a record by a unique index. Inserting the same values checks its absence. */
  async find<R extends Identified>(kind: RecordKind<R>, index: string, values: readonly Element[]): Promise<Stored<R> | undefined> {
    return this.#noted(kind, await this.#database.find(kind, this.#reach, index, values))
  }

  get isEmpty(): boolean {
    return this.sets.length + this.deletes.length + this.adds.length === 0
  }

  #noted<S extends Stored<R> | undefined, R extends Identified>(kind: RecordKind<R>, stored: S): S {
    if (stored) this.checkRecord(kind, this.#reach.organizationId, stored)
    return stored
  }
}

type Decide<T> = (change: Transaction) => T | Promise<T>

/**
 * Runs `decide`, which reads, fills the change and returns the result; then commits unless the change is empty. Runs again if a read record
 * has changed, so `decide` must have no other effects. It must not begin another transaction, which would wait for this one. All concurrent
 * writers of an organization succeed eventually. Throws `conflict` after many tries, and the error of `Transaction.limits` if a counter
 * would exceed its limit.
 */
export async function transact<T>(database: Database, reach: Visibility, decide: Decide<T>): Promise<T> {
  const done =
    (await tryAFewTimes(database, reach, decide, triesTogether)) ??
    (await turnsOf(database).run(reach.organizationId, () => tryAFewTimes(database, reach, decide, triesInTurn)))
  if (done) return done.result
  throw new Refusal('conflict', 'The resource was modified by another request. Fetch the current version and try again.')
}

async function tryAFewTimes<T>(
  database: Database,
  reach: Visibility,
  decide: Decide<T>,
  maxTries: number,
): Promise<{ readonly result: T } | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const change = new Transaction(database, reach)
    const result = await decide(change)
    if (change.isEmpty) return { result }
    const written = await database.commit(change)
    if (written.ok) return { result }
    if (written.reason === 'limit') throw change.limits.get(keyName(written.key))?.() ?? atLimit
  }
  return undefined
}

/** Queues of writers, by store and organization. */
const turns = new WeakMap<Database, KeyedMutex>()
const turnsOf = (database: Database): KeyedMutex => {
  const known = turns.get(database) ?? new KeyedMutex()
  turns.set(database, known)
  return known
}

const atLimit = new Refusal('rate_limit_exceeded', 'Rate limit exceeded. Try again in 60 seconds.', { retryAfterSeconds: 60 })

/** Returns the record with this id. Throws `not_found` for unknown ids and for ids of other organizations. */
export async function must<R extends Identified>(
  database: Database,
  kind: RecordKind<R>,
  reach: Visibility,
  id: string,
): Promise<Stored<R>> {
  const stored = await database.get(kind, reach, id)
  if (!stored) throw new Refusal('not_found', `No ${kind.noun} has this id.`)
  return stored
}

/** Changes a setting by a function of its current value. An unchanged record is not written and keeps its time. Throws `not_found`. */
export async function changeSetting<R extends Identified & { readonly updatedAt: number }>(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { change, kind, reach, id }: { readonly change: Change; readonly kind: RecordKind<R>; readonly reach: Visibility; readonly id: string },
  next: (record: R) => R,
): Promise<R> {
  const stored = await must(database, kind, reach, id)
  const changed = next(stored.record)
  if (isDeepStrictEqual(changed, stored.record)) return stored.record
  const record = { ...changed, updatedAt: clock.now() }
  change.replace(kind, reach.organizationId, stored, record)
  return record
}
