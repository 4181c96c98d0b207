/**
 * Removes unreferenced objects: objects of deleted values soon after the commit, and leftovers of crashes after a day. Removes nothing
 * while a snapshot is open, because it may still see the rows.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { kindOf, kinds, objectHeadBytes } from '../../engine/codec.ts'
import type { Servers } from '../servers.ts'
import { stagedTable } from '../staged-rows.ts'
import { partSuffix } from './folder-objects.ts'
import type { LargeValues } from './large-values.ts'

/** Advisory lock that readers of snapshots share; the name in bytes. */
const objectLock = 0x7074_6f62
/** Largest number of names to remove in memory. The daily sweep finds the others. */
const maxGone = 100_000
/** Number of objects removed under one lock, so that a snapshot waits only briefly; and of parallel requests. */
const [batch, atOnce] = [256, 16]
const retryMs = 1000
/** Minimum age. A row is written within an hour after its object; see `large-values.ts`. */
const leastAgeMs = 86_400_000
const everyMs = 86_400_000

const namedIn = (table: string): string =>
  `SELECT key, substring(stored FROM 1 FOR ${objectHeadBytes}) AS stored FROM ${table} WHERE key = ANY($1::bytea[])`

/** Locks objects on the connection of a snapshot, until the connection ends. Call it before the transaction of the snapshot. */
export const keepObjects = (client: Client): Promise<unknown> => client.query('SELECT pg_advisory_lock_shared($1)', [objectLock])

export class ObjectSweep {
  readonly #servers: Servers
  readonly #values: LargeValues
  readonly #closing = new AbortController()
  #gone: string[] = []
  #removing: Promise<void> | undefined
  #sweptAt = -Infinity

  constructor(servers: Servers, values: LargeValues) {
    this.#servers = servers
    this.#values = values
  }

  /** Removes these objects. Their rows must be deleted durably. */
  forget(names: readonly string[]): void {
    if (names.length === 0 || this.#gone.length > maxGone || this.#closing.signal.aborted) return
    this.#gone.push(...names)
    this.#removing ??= this.#removeGone().finally(() => (this.#removing = undefined))
  }

  /**
   * Removes unreferenced objects that are older than a day. Does nothing within a day after the last complete sweep. Returns the number
   * removed. Throws `StoreAway` or the error of the database.
   */
  async sweep(now = Date.now()): Promise<number> {
    if (now - this.#sweptAt < everyMs) return 0
    let [old, swept]: [string[], number] = [[], 0]
    for await (const { name, modifiedAt } of this.#values.objects.list(this.#values.folder)) {
      if (now - modifiedAt < leastAgeMs || !(name.endsWith(partSuffix) || this.#values.placeIn(name))) continue
      old.push(name)
      if (old.length < batch) continue
      const removed = await this.#removeUnnamed(old)
      if (removed === undefined) return swept // the next call starts again
      swept += removed
      old = []
    }
    const removed = await this.#removeUnnamed(old)
    if (removed !== undefined) this.#sweptAt = now
    return swept + (removed ?? 0)
  }

  /** A later sweep removes the remaining objects. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#removing?.catch(() => undefined)
  }

  /** Removes all remembered objects. Tries again while a snapshot is open, or while the database or the storage is unreachable. */
  async #removeGone(): Promise<void> {
    while (this.#gone.length > 0) {
      const names = this.#gone.slice(0, batch)
      const isDone = await this.#alone(() => this.#remove(names)).catch(() => undefined)
      if (isDone !== undefined) this.#gone.splice(0, names.length)
      else if (this.#closing.signal.aborted) return
      else await wait(retryMs, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined)
    }
  }

  #removeUnnamed(names: readonly string[]): Promise<number | undefined> {
    return this.#alone(async (client) => {
      const places = names.map((name) => this.#values.placeIn(name))
      const named = new Set<string>()
      for (const table of await tablesOf(client)) {
        const { rows } = await client.query<{ key: Buffer; stored: Buffer }>(namedIn(table), [places.flatMap((place) => place?.key ?? [])])
        for (const { key, stored } of rows) if (kindOf(stored) === kinds.object) named.add(this.#values.nameIn(key, stored))
      }
      return this.#remove(names.filter((name) => !named.has(name)))
    })
  }

  async #remove(names: readonly string[]): Promise<number> {
    for (let at = 0; at < names.length; at += atOnce) {
      await Promise.all(names.slice(at, at + atOnce).map((name) => this.#values.objects.remove(name)))
    }
    return names.length
  }

  /** Returns undefined while a snapshot is open, or while another process removes objects. */
  async #alone(work: (client: Client) => Promise<number>): Promise<number | undefined> {
    const client = await this.#servers.connect('postern objects')
    try {
      const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [objectLock])
      return rows[0]?.locked === true ? await work(client) : undefined
    } finally {
      await client.end()
    }
  }
}

/** A copy made ahead also has rows that refer to objects. Its rows will be in use later. */
async function tablesOf(client: Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ staged: boolean }>('SELECT to_regclass($1) IS NOT NULL AS staged', [stagedTable])
  return rows[0]?.staged === true ? ['postern_rows', stagedTable] : ['postern_rows']
}
