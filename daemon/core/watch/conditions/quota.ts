/** Conditions of limits: sends, captures, stored traces and credits. Pure. */
import type { Severity } from '../../findings/kinds.ts'
import { observedAs, type Condition } from '../condition.ts'

export const watchedLimits = ['sends_today', 'project_sends_today', 'captures_month', 'traces_stored', 'credits'] as const

export interface Used {
  readonly limit: (typeof watchedLimits)[number]
  readonly used: number
  readonly allowed: number
  /** Empty for a limit of the organization. */
  readonly projectId: string
  /** Name of the project; empty for a limit of the organization. */
  readonly project: string
  /** The day or month of the count; absent for a limit that time does not reset. */
  readonly period?: { readonly from: number; readonly to: number } | undefined
}

const nearlyPercent = 80
/** Before websites are paused, members are told twice; see the decision "Report used credits as findings". */
const urgentPercent = 95

/** Ends with a new period, a higher limit, or less use. A limit that its period ends first, at the present pace, is not nearly used. */
export const quotaConditions = (all: readonly Used[], now: number): readonly Condition[] =>
  all.flatMap(({ limit, used, allowed, projectId, project, period }): Condition[] => {
    if (used * 100 < nearlyPercent * allowed) return []
    const kind = used >= allowed ? 'quota.used' : 'quota.nearly_used'
    const fullAt = period && kind === 'quota.nearly_used' ? Math.round(period.from + ((now - period.from) * allowed) / used) : undefined
    if (period && fullAt !== undefined && fullAt >= period.to) return []
    const percent = allowed === 0 ? 100 : Math.floor((used * 100) / allowed)
    const params = { limit, used, allowed, percent, project, full: fullAt === undefined ? 'no' : 'yes', fullAt: fullAt ?? 0 }
    return [observedAs(severityAt(limit, percent), kind, projectId === '' ? limit : `${limit}/${projectId}`, params, projectId)]
  })

/** Returns undefined for the severity of the kind. */
function severityAt(limit: Used['limit'], percent: number): Severity | undefined {
  // the oldest traces are removed for new ones, so that no mail is refused
  if (limit === 'traces_stored') return 'warning'
  return limit === 'credits' && percent >= urgentPercent ? 'error' : undefined
}
