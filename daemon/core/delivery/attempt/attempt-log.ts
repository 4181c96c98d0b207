/** Durable log of an attempt in flight: its start, results of recipients as they arrive, and its end. */
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

/** Destination and peer of an attempt, recorded when it begins. */
type Place = Pick<AttemptRecord, 'destinationId' | 'provider' | 'host' | 'port'>

/** A hold or drop was committed before the start of the attempt, so the peer cannot have the message. */
export class CalledOff extends Error {
  override readonly name = 'CalledOff'
}

export class AttemptLog {
  readonly #database: Database
  readonly #entry: QueueEntry
  /** The trace at the start of the attempt. */
  readonly #stored: Stored<Trace>
  readonly #name: Pick<AttemptRecord, 'number' | 'startedAt'>
  #isBegun = false
  /** True if the attempt has a row; `#rows` counts its progress rows. */
  #hasRow = false
  #rows = 0

  constructor(database: Database, entry: QueueEntry, stored: Stored<Trace>, startedAt: number) {
    this.#database = database
    this.#entry = entry
    this.#stored = stored
    this.#name = { number: stored.record.attempts + 1, startedAt }
  }

  /** Records that the attempt has begun at `place`, or the results since then. Throws `CalledOff` if a hold or drop came first. */
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

  /** Writes the row of the attempt. The first write requires that the message is neither held nor dropped. */
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

  /** Deletes the attempt of a deleted trace, because its start may have been written after the deletion. */
  drop(change: Change): Change {
    return dropAttempt(change, this.#entry.organizationId, this.#entry.traceId, this.#name.number, this.#rows)
  }

  /** Adds the finished attempt to the final write. Returns the trace to store. */
  end(change: Change, trace: Trace, ended: Omit<AttemptRecord, 'number' | 'startedAt'>): Trace {
    const record = { ...this.#name, ...ended }
    if (!fitsTrace(record)) {
      writeWhole(change, this.#entry.organizationId, this.#entry.traceId, record, this.#rows)
      return trace
    }
    if (this.#hasRow) this.drop(change)
    return { ...trace, firstAttempt: record }
  }

  /** Whether the entry is at the position that its trace names, where readers of the trace look for it. */
  #isInPlace(): boolean {
    const { destinationId, dueMs, organizationId } = this.#entry
    const expected = waitingEntry(organizationId, this.#stored.record)
    return expected.destinationId === destinationId && expected.dueMs === dueMs
  }

  /** Returns false if the trace has changed in the meantime. The entry may then be gone and must not be written again. */
  async #noteInQueue({ provider, host, port }: Place): Promise<boolean> {
    this.#isBegun = true
    const change = new Change().checkRecord(traces, this.#entry.organizationId, this.#stored)
    noteBegun(change, this.#entry, { ...this.#name, provider, host, port })
    return (await this.#database.commit(change)).ok
  }
}
