/**
 * Candidate messages for a report without our token: messages sent shortly before to an address in the report. The search uses the existing
 * recipient index, so search by Message-ID or queue id adds no cost at submission.
 */
import { unpack } from '#store/tuple.ts'
import type { Database } from '#store/database.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { foldAddress } from '../../addresses.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import type { FeedbackEvent } from '../event.ts'

const hourMs = 3_600_000
/** Tolerance for clocks of logs, which are often wrong by a time zone. */
const clockSlackMs = 15 * hourMs
/** Maximum time between acceptance and report: servers usually retry for five days, after up to two days of our own retries. */
const maxDeliveryMs = 10 * 24 * hourMs
/** Maximum credible age of an event in a log. */
const oldestMs = 30 * 24 * hourMs
/** Maximum number of messages examined per address, latest first. */
const maxMessages = 200
/** Maximum number of addresses whose messages are cached. A batch can name a thousand. */
const maxAddresses = 100

/** Finds candidates for one batch of events and caches recent results. */
export class Candidates {
  readonly #database: Database
  readonly #organizationId: string
  readonly #since: number
  readonly #until: number
  readonly #found = new Map<string, Promise<readonly Trace[]>>()

  constructor(database: Database, organizationId: string, events: readonly FeedbackEvent[], nowMs: number) {
    this.#database = database
    this.#organizationId = organizationId
    const times = events.map(({ occurredAt }) => (isCredible(occurredAt, nowMs) ? Math.floor(occurredAt) : nowMs))
    this.#since = Math.max(0, times.reduce((a, b) => Math.min(a, b), nowMs) - maxDeliveryMs - clockSlackMs)
    this.#until = Math.max(0, times.reduce((a, b) => Math.max(a, b), 0) + clockSlackMs)
  }

  /** Returns messages to the address, latest first. */
  to(address: string): Promise<readonly Trace[]> {
    const folded = foldAddress(address)
    const known = this.#found.get(folded)
    if (known) return known
    const found = this.#read(folded)
    this.#found.set(folded, found)
    const [oldest] = this.#found.keys()
    if (this.#found.size > maxAddresses && oldest !== undefined) this.#found.delete(oldest)
    return found
  }

  async #read(folded: string): Promise<readonly Trace[]> {
    const prefix = [...indexPrefix(traces.name, this.#organizationId, 'recipient'), folded]
    const range = { start: pack([...prefix, this.#since]), end: pack([...prefix, this.#until]) }
    const found: Trace[] = []
    for await (const { key } of this.#database.kv.range({ ...range, limit: maxMessages, reverse: true })) {
      const stored = await this.#database.get(traces, { organizationId: this.#organizationId }, String(unpack(key).at(-1)))
      if (stored) found.push(stored.record)
    }
    return found
  }
}

const isCredible = (occurredAt: number | null, nowMs: number): occurredAt is number =>
  occurredAt !== null && occurredAt <= nowMs && occurredAt > nowMs - oldestMs
