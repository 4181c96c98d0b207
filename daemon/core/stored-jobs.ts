/** Jobs that stand in the store until they are done, each carried out by itself; those of an earlier process go on at the start. */
import type { Database } from '#store/database.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

export interface StoredJobsOptions {
  readonly database: Pick<Database, 'kv'>
  /** The folder of keys that name the open ones: it is followed by the organization and the id. */
  readonly openKeys: readonly Element[]
  /** Carries one out, and ends early when `stopping` is set. */
  readonly carryOut: (organizationId: string, id: string) => Promise<void>
  /** Is notified of defects; the job rests until the next start. */
  readonly onError: (error: unknown, id: string) => void
}

export class StoredJobs {
  readonly #options: StoredJobsOptions
  readonly #running = new Map<string, Promise<void>>()
  #stopping = false

  constructor(options: StoredJobsOptions) {
    this.#options = options
  }

  get stopping(): boolean {
    return this.#stopping
  }

  /** Takes up the jobs that an earlier process left. */
  async start(): Promise<void> {
    const { database, openKeys } = this.#options
    for await (const { key } of database.kv.range(within(openKeys))) {
      const [organizationId, id] = unpack(key).slice(openKeys.length)
      this.wake(String(organizationId), String(id))
    }
  }

  /** Begins a job, unless it is under way. */
  wake(organizationId: string, id: string): void {
    const { carryOut, onError } = this.#options
    if (this.#stopping || this.#running.has(id)) return
    const run = carryOut(organizationId, id)
      .catch((error: unknown) => onError(error, id))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, run)
  }

  /** Waits until each has come to a place where it goes on with the next start. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running.values())
  }
}
