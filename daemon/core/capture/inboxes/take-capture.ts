/** The capture of a message: its place in the inboxes of the project, and the reading of its body that follows. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { foldAddress } from '../../addresses.ts'
import type { Trace } from '../../trace/trace.ts'
import { scheduleReading } from '../reading/reading-work.ts'

/**
 * The trace as captured, which the change is to write and be committed at once: its id and time are made just before it is written, so
 * that captures become visible in their order.
 */
export function takeCapture(
  database: Database,
  change: Change,
  organizationId: string,
  trace: Trace,
  { headerAddresses, nowMs }: { readonly headerAddresses: readonly string[]; readonly nowMs: number },
): Trace {
  const id = database.orderedId('cap', nowMs)
  const addresses = [trace.mailFrom, ...trace.recipients.map(({ address }) => address)].map(foldAddress)
  const capture = { id, at: nowMs, addressesSeen: [...new Set([...headerAddresses, ...addresses])].toSorted() }
  scheduleReading(change, organizationId, trace.projectId)
  return { ...trace, capture }
}
