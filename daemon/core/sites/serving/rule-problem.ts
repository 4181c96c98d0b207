/** A line of `_redirects` or `_headers` that has no effect. */
export interface RuleProblem {
  /** Line number, starting at 1. */
  readonly line: number
  /** Problem as a sentence. */
  readonly problem: string
}

/** Octets beyond this size are ignored. */
export const maxRuleFileBytes = 65_536
export const maxRules = 500
