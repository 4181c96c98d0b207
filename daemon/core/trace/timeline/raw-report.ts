/** Original mail of a report, stored with the trace so that people can read reports that could not be parsed. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { pack, type Element } from '#store/tuple.ts'
import { traceReports, type TraceReport } from '../trace-report.ts'

/** Maximum stored octets. Reports state the important facts first; the returned message follows. */
export const maxRawReportBytes = 65_536

export const rawReportKey = (organizationId: string, reportId: string): readonly Element[] => [organizationId, 'feedback.raw', reportId]

/** Returns the original mail of a report; undefined if not stored. */
export async function readRawReport(database: Database, organizationId: string, reportId: string): Promise<Uint8Array | undefined> {
  return (await database.kv.get(pack(rawReportKey(organizationId, reportId))))?.value
}

/**
 * Returns the id of the stored mail: the report's id, with a suffix after each replacement by better evidence. Other reports may refer to
 * the earlier mail.
 */
export const keptUnder = ({ id, revisions = 0 }: Pick<TraceReport, 'id' | 'revisions'>): string =>
  revisions === 0 ? id : `${id}.${revisions}`

/** Returns the id of the report that stores the mail. */
export const keeperOf = (keptId: string): string => keptId.replace(/\.\d+$/, '')

/** Deletes a report and its stored mails. */
export function dropReport(change: Change, organizationId: string, stored: Stored<TraceReport>): void {
  const { id, rawBytes, revisions = 0 } = stored.record
  change.remove(traceReports, organizationId, stored)
  if (rawBytes === 0 && revisions === 0) return
  for (let at = 0; at <= revisions; at++) change.delete(rawReportKey(organizationId, keptUnder({ id, revisions: at })))
}
