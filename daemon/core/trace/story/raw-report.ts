/** The mail that a report came as, kept beside the trace: unreadable reports can still be looked at. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { traceReports, type TraceReport } from '../trace-report.ts'

/** Reports state what matters at their beginning; the returned message comes after it. */
export const maxRawReportBytes = 65_536

export const rawReportKey = (organizationId: string, reportId: string): readonly Element[] => [organizationId, 'feedback.raw', reportId]

/** The mail that a report of a trace came as; undefined when none was kept. */
export async function readRawReport(database: Database, organizationId: string, reportId: string): Promise<Uint8Array | undefined> {
  return (await database.kv.get(pack(rawReportKey(organizationId, reportId))))?.value
}

/**
 * Under which id the mail of a report is kept: the report's own, and one more for each time that better evidence replaced it, as
 * other reports can refer to the mail that came before.
 */
export const keptUnder = ({ id, revisions = 0 }: Pick<TraceReport, 'id' | 'revisions'>): string =>
  revisions === 0 ? id : `${id}.${revisions}`

/** The report that keeps the mail of this id. */
export const keeperOf = (keptId: string): string => keptId.replace(/\.\d+$/, '')

/** Removes a report with the mails that it came as. */
export function dropReport(change: Change, organizationId: string, stored: Stored<TraceReport>): void {
  const { id, rawBytes, revisions = 0 } = stored.record
  change.remove(traceReports, organizationId, stored)
  if (rawBytes === 0 && revisions === 0) return
  for (let at = 0; at <= revisions; at++) change.delete(rawReportKey(organizationId, keptUnder({ id, revisions: at })))
}
