/** Transactions: what a write was decided on is still true when it happens, or it is decided again. One bound of tries and one refusal. */
import { isDeepStrictEqual } from 'node:util'
import { Change } from '#store/change.ts'
import type { Database, Visibility } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { keyName, type Element } from '#store/tuple.ts'
import type { Clock } from '../clock.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import { Refusal } from '../refusals.ts'

/** Of writers that meet, one is done with each try; the others lose at most so often before they take turns. */
const triesTogether = 3
/** In its turn a writer meets those alone that have just begun, and whoever does not take turns. */
const triesInTurn = 100

/** A change that notes what it reads: it is not written when one of these records has changed or gone meanwhile. */
export class Transaction extends Change {
  /** Makes what to throw when a counter would pass its limit, by the name of its key (`keyName`). */
  readonly limits = new Map<string, () => Refusal>()
  readonly #database: Database
  readonly #reach: Visibility

  constructor(database: Database, reach: Visibility) {
    super()
    this.#database = database
    this.#reach = reach
  }

  /** That there is none is not checked, except for what this write itself inserts. */
  async get<R extends Identified>(kind: RecordKind<R>, id: string): Promise<Stored<R> | undefined> {
    return this.#noted(kind, await this.#database.get(kind, this.#reach, id))
  }

  /** Throws `not_found` alike for missing and foreign ids. */
  async must<R extends Identified>(kind: RecordKind<R>, id: string): Promise<Stored<R>> {
    return this.#noted(kind, await must(this.#database, kind, this.#reach, id))
  }

  /** By a unique index. That there is none is checked by what this write inserts under the same values. */
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
 * Runs `decide`, which reads what it needs, fills the change and returns the result; then commits, unless the change is empty. Runs
 * again when what was read has changed meanwhile, so `decide` does nothing else, and begins no transaction of its own, which would wait
 * for its turn behind this one. However many writers of one organization meet, all of them are done. Throws `conflict` after many tries
 * against others, and what `Transaction.limits` says when a counter would pass its limit.
 */
export async function transact<T>(database: Database, reach: Visibility, decide: Decide<T>): Promise<T> {
  const done =
    (await tryAFewTimes(database, reach, decide, triesTogether)) ??
    (await turnsOf(database).run(reach.organizationId, () => tryAFewTimes(database, reach, decide, triesInTurn)))
  if (done) return done.result
  throw new Refusal('conflict', 'It was changed at the same time; read it again and repeat the request.')
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

/** Turns of the organizations of each store, by organization. */
const turns = new WeakMap<Database, KeyedMutex>()
const turnsOf = (database: Database): KeyedMutex => {
  const known = turns.get(database) ?? new KeyedMutex()
  turns.set(database, known)
  return known
}

const atLimit = new Refusal('rate_limit_exceeded', 'A limit was reached.', { retryAfterSeconds: 60 })

/** The record with this id. Throws `not_found` alike for missing and foreign ids. */
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

/** Changes a setting by what it says now. One that stays as it is is not written, and keeps its time. Throws `not_found`. */
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
