/** Reads the bodies of captured messages for the addresses in them, after the acknowledgement and apart from it. */
import { Change } from '#store/change.ts'
import { readWholeContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { unpack, within } from '#store/tuple.ts'
import { traces } from '../trace/trace.ts'
import { captures } from './capture.ts'
import type { MessageReader } from './message-reader.ts'
import { pendingReadKey, pendingReadsKey } from './pending-read.ts'

export interface BackgroundReadOptions {
  readonly database: Database
  readonly reader: MessageReader
  readonly onError: (error: unknown, captureId: string) => void
}

export class BackgroundRead {
  readonly #options: BackgroundReadOptions
  #running: Promise<void> | undefined
  #again = false
  #stopping = false

  constructor(options: BackgroundReadOptions) {
    this.#options = options
  }

  /** Something may be waiting; also called at start for what an earlier process left. */
  wake(): void {
    if (this.#stopping) return
    this.#again = true
    this.#running ??= this.#run()
  }

  /** Begins nothing new; what is left waits in the store for the next start. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopping) {
      this.#again = false
      try {
        await this.#readAll()
      } catch (error) {
        this.#options.onError(error, '')
      }
    }
    this.#running = undefined // in the same tick as the last look at `#again`
  }

  async #readAll(): Promise<void> {
    for await (const { key } of this.#options.database.kv.range(within(pendingReadsKey))) {
      if (this.#stopping) return
      const [, , organizationId, captureId] = unpack(key).map(String)
      try {
        await this.#read(organizationId ?? '', captureId ?? '')
      } catch (error) {
        this.#options.onError(error, captureId ?? '')
      }
    }
  }

  async #read(organizationId: string, captureId: string): Promise<void> {
    const { database, reader } = this.#options
    const change = new Change().delete(pendingReadKey(organizationId, captureId))
    const stored = await database.get(captures, { organizationId }, captureId)
    const trace = stored && (await database.get(traces, { organizationId }, stored.record.traceId))
    if (stored && trace) {
      const result = await reader.read(await readWholeContent(database, organizationId, trace.record.content))
      const seen = result.ok ? result.message.addressesSeen : []
      const addressesSeen = [...new Set([...stored.record.addressesSeen, ...seen])].toSorted()
      if (addressesSeen.length > stored.record.addressesSeen.length)
        change.replace(captures, organizationId, stored, { ...stored.record, addressesSeen })
    }
    await database.commit(change)
  }
}
