/** Results of conditions. A condition that is absent has no result for its subject. */
import { observed, type Observed } from '../findings/finding.ts'
import type { FindingKind, Severity } from '../findings/kinds.ts'

/** The figures cannot decide now; an open finding of the subject stays open. */
export interface Undecided {
  readonly kind: FindingKind
  readonly subject: string
}

/** Time from which a look without new counts can find something else. */
export interface LookAgain {
  readonly lookAt: number
}

export type Condition = Observed | Undecided | LookAgain

export interface Sorted {
  readonly observed: readonly Observed[]
  readonly undecided: readonly Undecided[]
  /** Infinity if only new counts can change the result. */
  readonly lookAt: number
}

export function sorted(conditions: readonly Condition[]): Sorted {
  const named = conditions.filter((one): one is Observed | Undecided => 'kind' in one)
  return {
    observed: named.filter((one): one is Observed => 'params' in one),
    undecided: named.filter((one) => !('params' in one)),
    lookAt: Math.min(...conditions.map((one) => ('lookAt' in one ? one.lookAt : Infinity))),
  }
}

/** Returns an observation with its own severity. */
export const observedAs = (severity: Severity | undefined, ...args: Parameters<typeof observed>): Observed => ({
  ...observed(...args),
  ...(severity !== undefined && { severity }),
})
