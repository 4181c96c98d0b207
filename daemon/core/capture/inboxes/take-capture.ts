/** Captures a message: adds it to the inboxes of the project, and schedules the reading of its body. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { foldAddress } from '../../addresses.ts'
import type { Trace } from '../../trace/trace.ts'
import { pendingReadKey } from '../reading/pending-read.ts'
import { mayBeMarked } from '../reading/read-marks.ts'
import { scheduleReading } from '../reading/reading-work.ts'

/**
 * Returns the captured trace, which the change must write and commit immediately. Id and time are assigned just before the write, so that
 * captures become visible in order.
 */
export function takeCapture(
  database: Database,
  change: Change,
  organizationId: string,
  trace: Trace,
  { headerAddresses, nowMs }: { readonly headerAddresses: readonly string[]; readonly nowMs: number },
): Trace {
  const id = database.orderedId(change, 'cap', nowMs)
  const addresses = [trace.mailFrom, ...trace.recipients.map(({ address }) => address)].map(foldAddress)
  const capture = { id, at: nowMs, addressesSeen: [...new Set([...headerAddresses, ...addresses])].toSorted() }
  const isPassedOver = !database.daemons.isAlone || mayBeMarked(database, id) // other daemons have different clocks
  if (isPassedOver) change.set(pendingReadKey(organizationId, id), Buffer.from(trace.id))
  scheduleReading(change, { organizationId, projectId: trace.projectId, isPassedOver })
  return { ...trace, capture }
}
