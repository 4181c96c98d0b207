/** Delays an entry whose attempt failed because of a defect in our own code. */
import { Change } from '#store/change.ts'
import { putOff, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { keepBegun } from '../../trace/attempt-record.ts'

export interface RestOptions extends Pick<Core, 'database' | 'clock'> {
  /** Notified of a store failure, which ends the process unless the damage is on record. The next process finds the entry. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** Length of the delay. */
export const defectPauseMs = 60_000

/**
 * Delays the entry, unless the attempt has settled or rescheduled it in the store, or a queue act has moved it. Returns false if reading or
 * writing its row fails. The entry is then still due, and the caller must not read it again before the delay has passed.
 */
export async function restAfterDefect({ database, clock, onError }: RestOptions, entry: QueueEntry): Promise<boolean> {
  try {
    for (let row = await rowAt(database, entry); row; row = await rowAt(database, entry)) {
      const change = new Change().check(row.key, row.version)
      putOff(change, row.entry, { ...row.entry, dueMs: clock.now() + defectPauseMs })
      await keepBegun(database, change, row.entry)
      if ((await database.commit(change)).ok) return true
    }
    return true
  } catch (error) {
    onError(error, entry.traceId)
    return false
  }
}
