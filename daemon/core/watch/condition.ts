/** Result of a condition for one subject. A condition that is absent has no result. */
import { observed, type Observed } from '../findings/finding.ts'
import type { FindingKind, Severity } from '../findings/kinds.ts'

/** The figures cannot decide now; an open finding of the subject stays open. */
export interface Undecided {
  readonly kind: FindingKind
  readonly subject: string
  /** Time from which the figures can decide, in milliseconds; absent if another event must happen first. */
  readonly decidedAt?: number | undefined
}

export type Condition = Observed | Undecided

export const isObserved = (condition: Condition): condition is Observed => 'params' in condition
export const isUndecided = (condition: Condition): condition is Undecided => !isObserved(condition)

/** Returns an observation with its own severity. */
export const observedAs = (severity: Severity | undefined, ...args: Parameters<typeof observed>): Observed => ({
  ...observed(...args),
  ...(severity !== undefined && { severity }),
})
