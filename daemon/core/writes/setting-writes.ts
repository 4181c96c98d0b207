/**
 * Serializes changes of settings per organization. Everything that a decision has read (references, counts, the last key of a kind) is
 * therefore still true at commit, without tracking it.
 */
import type { Database } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import { KeyedMutex } from '../keyed-mutex.ts'
import type { Requester, Audit } from './audit.ts'
import { transact, type Transaction } from './transact.ts'

/** The key that every change of settings writes; `[organization, 'settings']`. */
const turnKey = (organizationId: string): readonly Element[] => [organizationId, 'settings']

export class SettingWrites {
  readonly #database: Database
  readonly #audit: Audit
  readonly #turns = new KeyedMutex()

  constructor(database: Database, audit: Audit) {
    this.#database = database
    this.#audit = audit
  }

  /** Like `run`, for a caller with a key: recorded in the audit log with this noun and verb (see `Audit.recordChanges`). */
  runAudited<T>(
    requester: Requester,
    action: string,
    decide: (change: Transaction) => T | Promise<T>,
    details: Readonly<Record<string, unknown>> = {},
  ): Promise<T> {
    return this.run(requester.organizationId, async (change) => {
      const result = await decide(change)
      this.#audit.recordChanges(change, requester, action, details)
      return result
    })
  }

  /**
   * Runs `decide`, which reads, fills the change and returns the result; then commits. An empty change writes nothing. Runs again if
   * another process has changed settings, see `transact`.
   */
  run<T>(organizationId: string, decide: (change: Transaction) => T | Promise<T>): Promise<T> {
    return this.#turns.run(organizationId, () => this.#run(organizationId, decide))
  }

  async #run<T>(organizationId: string, decide: (change: Transaction) => T | Promise<T>): Promise<T> {
    const key = turnKey(organizationId)
    return transact(this.#database, { organizationId }, async (change) => {
      const version = (await this.#database.kv.get(pack(key)))?.version
      const result = await decide(change)
      if (!change.isEmpty) change.check(key, version).set(key)
      return result
    })
  }
}
