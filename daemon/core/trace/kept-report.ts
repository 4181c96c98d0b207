/** The mail that a report came as, kept beside the trace: what nobody could read can still be looked at. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { traceReports, type TraceReport } from './trace-report.ts'

/** Reports tell what matters at their beginning; the returned message comes after it. */
export const keptReportBytes = 65_536

export const keptReportKey = (organizationId: string, reportId: string): readonly Element[] => [organizationId, 'feedback.raw', reportId]

/** The mail that a report of a trace came as; undefined when none was kept. */
export async function readKeptReport(database: Database, organizationId: string, reportId: string): Promise<Uint8Array | undefined> {
  return (await database.kv.get(pack(keptReportKey(organizationId, reportId))))?.value
}

/** Removes a report with the mail it came as. */
export function dropReport(change: Change, organizationId: string, stored: Stored<TraceReport>): void {
  change.remove(traceReports, organizationId, stored)
  if (stored.record.rawBytes > 0) change.delete(keptReportKey(organizationId, stored.record.id))
}

/** Of a report that has something to keep, which no other report of the mail keeps. */
export function keepReport(
  change: Change,
  organizationId: string,
  { id, rawBytes, rawOf }: TraceReport,
  raw: Uint8Array | undefined,
): void {
  if (raw && rawBytes > 0 && rawOf === undefined) change.set(keptReportKey(organizationId, id), raw.subarray(0, rawBytes))
}
