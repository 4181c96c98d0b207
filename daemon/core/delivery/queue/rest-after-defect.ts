/** What a defect in our own code kept from its attempt rests for a while. */
import { Change } from '#store/change.ts'
import { putOff, rowAt, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { keepBegun } from '../../trace/attempt-record.ts'

export interface RestOptions extends Pick<Core, 'database' | 'clock'> {
  /** Is notified when the store failed, which ends the process unless damage is known; the next one finds the entry. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** For so long. */
export const defectPauseMs = 60_000

/**
 * Puts the entry off, unless the attempt had settled or rescheduled it in the store, or an act on the queue has moved it. Returns false
 * if its row cannot be read or written: it is still due, and the caller keeps it from being read again before the pause has passed.
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
