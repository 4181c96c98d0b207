/** Applies the effects of reports on the suppression list, in the write that records the reports. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { isSwitchedOn, type FeatureSettings } from '../../plan/features.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import { causeOfSuppression, consequenceOf } from './auto-suppression.ts'
import { stageSuppressions } from './add-suppressions.ts'

/** A new report, or better evidence that replaces a stored report. */
export interface ReportUpdate {
  report: TraceReport
  suppressed: boolean
}

export interface Settling {
  readonly database: Database
  readonly organizationId: string
  readonly organization: FeatureSettings
  readonly nowMs: number
}

/**
 * Adds the suppressions that the reports call for, and corrects or removes the entries of replaced reports. Sets the result in the reports.
 * `replaced` is the weaker report about the same outcome. Call it once per write.
 */
export async function settleSuppressions(
  change: Change,
  { database, organizationId, organization, nowMs }: Settling,
  slots: readonly { readonly replaced: TraceReport | undefined; readonly update: ReportUpdate }[],
): Promise<void> {
  const isOn = isSwitchedOn(organization, 'bounce_auto_suppress')
  const all = await Promise.all(
    slots.map(async ({ replaced, update }) => {
      const cause = await causeOfSuppression(database, change, organizationId, update.report, replaced)
      return { update, cause, ...consequenceOf(database, update.report, replaced, cause, nowMs) }
    }),
  )
  const meant = all.flatMap(({ update, entry, cause }) => (isOn && entry && cause !== undefined ? [{ update, entry, cause }] : []))
  const corrections = all.flatMap(({ correction }) => correction ?? [])
  for (const { update, correction } of all) if (correction?.reason === null) update.report = { ...update.report, suppression: null }
  if (meant.length + corrections.length === 0) return
  const entries = meant.map(({ entry }) => entry)
  const results = await stageSuppressions(database, change, organizationId, entries, nowMs, corrections)
  for (const [i, { update, cause }] of meant.entries()) {
    if (!results[i]?.added) continue
    update.suppressed = true
    update.report = { ...update.report, suppression: { id: results[i].suppression.id, reason: cause } }
  }
}
