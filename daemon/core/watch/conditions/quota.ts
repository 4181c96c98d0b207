/** Conditions of limits: sends, captures, stored traces and credits. Pure. */
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
}

const nearly = 0.8

/** Ends with a new period, a higher limit, or less use. */
export const quotaConditions = (all: readonly Used[]): readonly Condition[] =>
  all.flatMap(({ limit, used, allowed, projectId, project }): Condition[] => {
    if (used < nearly * allowed) return []
    const kind = used >= allowed ? 'quota.used' : 'quota.nearly_used'
    const percent = allowed === 0 ? 100 : Math.floor((used / allowed) * 100)
    const params = { limit, used, allowed, percent, project }
    // the oldest traces are removed for new ones, so that no mail is refused
    const severity = limit === 'traces_stored' ? 'warning' : undefined
    return [observedAs(severity, kind, projectId === '' ? limit : `${limit}/${projectId}`, params, projectId)]
  })
