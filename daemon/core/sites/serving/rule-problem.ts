/** A line of `_redirects` or `_headers` that does nothing. */
export interface RuleProblem {
  /** From 1. */
  readonly line: number
  /** What is wrong, as a sentence. */
  readonly problem: string
}

/** More of a file with rules is not read. */
export const maxRuleFileBytes = 65_536
export const maxRules = 500
