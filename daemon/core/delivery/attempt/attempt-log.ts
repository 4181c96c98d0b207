/** What of an attempt under way is durable: its start, the word of recipients as it becomes known, and its end as a whole. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { noteBegun, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import {
  dropAttempt,
  fitsTrace,
  writeAttempt,
  writeProgress,
  writeWhole,
  type AttemptRecord,
  type RecipientReport,
} from '../../trace/attempt-record.ts'
import { isStopped } from '../../trace/acts/queue-acts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'

/** What an attempt that has only begun can say of where it goes. */
type Place = Pick<AttemptRecord, 'destinationId' | 'provider' | 'host' | 'port'>

/** The message was held or dropped before the attempt was recorded as begun, so that the peer may not have it. */
export class CalledOff extends Error {
  override readonly name = 'CalledOff'
}

export class AttemptLog {
  readonly #database: Database
  readonly #entry: QueueEntry
  /** As it is while the attempt begins. */
  readonly #stored: Stored<Trace>
  readonly #name: Pick<AttemptRecord, 'number' | 'startedAt'>
  #isBegun = false
  /** The attempt has a row, and so many beside it. */
  #hasRow = false
  #rows = 0

  constructor(database: Database, entry: QueueEntry, stored: Stored<Trace>, startedAt: number) {
    this.#database = database
    this.#entry = entry
    this.#stored = stored
    this.#name = { number: stored.record.attempts + 1, startedAt }
  }

  /**
   * Makes durable that the attempt has begun at `place`, or, when that is, what has become known of recipients since. Throws `CalledOff`
   * when the message was held or dropped before.
   */
  async record(place: Place, recipients?: readonly RecipientReport[]): Promise<void> {
    const { organizationId, traceId } = this.#entry
    if (this.#isBegun && !recipients) return
    const isFirst = !this.#isBegun
    if (isFirst && !recipients && this.#isInPlace() && (await this.#noteInQueue(place))) return
    this.#isBegun = true
    if (!this.#hasRow) {
      await this.#writeRow({ ...this.#name, ...place, state: 'started', recipients }, isFirst)
      this.#hasRow = true
    } else if (recipients) {
      const progress = { number: this.#name.number, row: ++this.#rows, recipients }
      await this.#database.commit(writeProgress(new Change(), organizationId, traceId, progress))
    }
  }

  /** The row of the attempt. Where it says first that the attempt has begun, no one may have held or dropped the message before. */
  async #writeRow(attempt: AttemptRecord, isFirst: boolean): Promise<void> {
    const { organizationId, traceId } = this.#entry
    for (;;) {
      const stored = isFirst ? await this.#database.get(traces, this.#entry, traceId) : undefined
      if (stored && (stored.record.status !== 'queued' || isStopped(stored.record))) throw new CalledOff()
      const change = writeAttempt(new Change(), organizationId, traceId, attempt)
      if (stored) change.checkRecord(traces, organizationId, stored)
      if ((await this.#database.commit(change)).ok) return
    }
  }

  /** Adds to the write that the attempt goes with its trace, which was deleted meanwhile: its start may have been written after that. */
  drop(change: Change): Change {
    return dropAttempt(change, this.#entry.organizationId, this.#entry.traceId, this.#name.number, this.#rows)
  }

  /** Adds the attempt as it ended to the write that its end makes, and returns the trace that this writes. */
  end(change: Change, trace: Trace, ended: Omit<AttemptRecord, 'number' | 'startedAt'>): Trace {
    const record = { ...this.#name, ...ended }
    if (!fitsTrace(record)) {
      writeWhole(change, this.#entry.organizationId, this.#entry.traceId, record, this.#rows)
      return trace
    }
    if (this.#hasRow) this.drop(change)
    return { ...trace, firstAttempt: record }
  }

  /** Whether the entry stands where who reads the trace looks for it. */
  #isInPlace(): boolean {
    const { destinationId, dueMs, organizationId } = this.#entry
    const expected = waitingEntry(organizationId, this.#stored.record)
    return expected.destinationId === destinationId && expected.dueMs === dueMs
  }

  /** False when the trace has changed since it was read: then the entry may have gone, and must not come back. */
  async #noteInQueue({ provider, host, port }: Place): Promise<boolean> {
    this.#isBegun = true
    const change = new Change().checkRecord(traces, this.#entry.organizationId, this.#stored)
    noteBegun(change, this.#entry, { ...this.#name, provider, host, port })
    return (await this.#database.commit(change)).ok
  }
}
