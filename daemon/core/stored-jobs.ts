/** Runs jobs that are stored until they end. Unfinished jobs continue on start. */
import type { Database } from '#store/database.ts'
import { unpack, within, type Element } from '#store/tuple.ts'

export interface StoredJobsOptions {
  readonly database: Pick<Database, 'kv'>
  /** Key prefix of open jobs, followed by organization and id. */
  readonly openKeys: readonly Element[]
  /** Runs a job; returns early if `stopping` is set. */
  readonly carryOut: (organizationId: string, id: string) => Promise<void>
  /** Called with internal errors. The job continues on the next start. */
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

  /** Continues the unfinished jobs of an earlier process. */
  async start(): Promise<void> {
    const { database, openKeys } = this.#options
    for await (const { key } of database.kv.range(within(openKeys))) {
      const [organizationId, id] = unpack(key).slice(openKeys.length)
      this.wake(String(organizationId), String(id))
    }
  }

  /** Starts a job, unless it is running. */
  wake(organizationId: string, id: string): void {
    const { carryOut, onError } = this.#options
    if (this.#stopping || this.#running.has(id)) return
    const run = carryOut(organizationId, id)
      .catch((error: unknown) => onError(error, id))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, run)
  }

  /** Waits until each job has reached a point where the next start can continue. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.all(this.#running.values())
  }
}
