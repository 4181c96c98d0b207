/** What a defect in our own code kept from its attempt rests for a while. */
import { Change } from '#store/change.ts'
import { putOff, queueHead, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { keepBegun } from '../../trace/attempt-record.ts'

export interface RestOptions extends Pick<Core, 'database' | 'clock'> {
  /** Is notified when the store failed, which ends the process; the next one finds the entry. */
  readonly onError: (error: unknown, traceId: string) => void
}

/** For so long. */
export const defectPauseMs = 60_000

/** Unless the attempt had come so far as to settle or reschedule the entry in the store. */
export async function restAfterDefect({ database, clock, onError }: RestOptions, entry: QueueEntry): Promise<void> {
  try {
    const [row] = await queueHead(database, entry, { from: entry, limit: 1 })
    if (row?.traceId !== entry.traceId || row.dueMs !== entry.dueMs) return
    const change = new Change()
    putOff(change, row, { ...row, dueMs: clock.now() + defectPauseMs })
    await keepBegun(database, change, row)
    await database.commit(change)
  } catch (error) {
    onError(error, entry.traceId)
  }
}
