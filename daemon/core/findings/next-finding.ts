/** Decides how an observation changes a stored finding. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { severityOf, type Finding, type Observed } from './finding.ts'
import { severities } from './kinds.ts'

/** A finding that comes back within this time is the same one, with its beginning and its alerts. */
export const sameMs = 3_600_000
/** Changed figures alone are stored at most this often. */
const figuresMs = 3_600_000

/** Who observed it: the check, and the daemon if the observation comes from its memory. */
export interface Observer {
  readonly check: string
  readonly daemon?: string | undefined
}

/** `adopt`: only the daemon changes, because the former one has left. While that one runs, two daemons would replace each other in turn. */
export type NextFinding = { readonly finding: Finding; readonly does: 'insert' | 'replace' | 'supersede' | 'adopt' } | undefined

export interface Circumstances {
  readonly now: number
  /** Is called for a new finding only. */
  readonly newId: () => string
  /** Whether another daemon of this id runs. */
  readonly isRunning: (daemon: string) => boolean
}

/** Returns the record that the observation leads to; undefined if the stored record stays. */
export function nextFinding(
  before: Finding | undefined,
  seen: Observed,
  observer: Observer,
  { now, newId, isRunning }: Circumstances,
): NextFinding {
  if (!before) return { finding: opened(seen, observer, now, newId()), does: 'insert' }
  const severity = severityOf(seen)
  // the marks of people were about a less severe problem
  const marks = severities.indexOf(severity) < severities.indexOf(before.severity) ? { acknowledged: null, mutedUntil: null } : {}
  if (before.state === 'over')
    return now - (before.overAt ?? 0) < sameMs
      ? { finding: { ...before, ...factsOf(seen, observer), ...marks, state: 'open', overAt: null, changedAt: now }, does: 'replace' }
      : { finding: opened(seen, observer, now, newId()), does: 'supersede' }
  const hasNewFigures = now - before.changedAt >= figuresMs && !isDeepStrictEqual(before.params, seen.params)
  const isKept = before.daemon !== undefined && isRunning(before.daemon)
  const daemon = isKept ? before.daemon : observer.daemon
  if (before.severity !== severity || before.projectId !== seen.projectId || hasNewFigures)
    return { finding: { ...before, ...factsOf(seen, { ...observer, daemon }), ...marks, changedAt: now }, does: 'replace' }
  const hasLeft = before.daemon !== undefined && daemon !== undefined && daemon !== before.daemon
  return hasLeft ? { finding: { ...before, daemon }, does: 'adopt' } : undefined
}

/** Returns the ended finding. */
export const endedFinding = (before: Finding, now: number): Finding => ({ ...before, state: 'over', overAt: now, changedAt: now })

const factsOf = (seen: Observed, { check, daemon }: Observer): Pick<Finding, 'projectId' | 'severity' | 'params' | 'check' | 'daemon'> => ({
  ...{ projectId: seen.projectId, severity: severityOf(seen), params: seen.params, check, daemon },
})

const opened = (seen: Observed, observer: Observer, now: number, id: string): Finding => ({
  ...{ id, kind: seen.kind, subject: seen.subject },
  ...factsOf(seen, observer),
  ...{ state: 'open', openedAt: now, changedAt: now, overAt: null, acknowledged: null, mutedUntil: null, notified: {} },
})
