/** Text form of routing rules, and their order. */
import type { RoutingRule } from '../wire/api.d.ts'

/** Returns the match as in the form: an address, a domain or `*`. */
export const matchOf = ({ match }: Pick<RoutingRule, 'match'>): string =>
  'from' in match ? match.from : 'domain' in match ? match.domain : '*'

/**
 * Returns the priorities to change so that the rule moves down by `by` places. Each place keeps its priority, but at least one above the
 * previous place.
 */
export function orderAfter(
  rows: readonly RoutingRule[],
  rule: RoutingRule,
  by: number,
): readonly (readonly [id: string, priority: number])[] {
  const at = rows.indexOf(rule)
  const order = rows.toSpliced(at, 1).toSpliced(at + by, 0, rule)
  let before = -Infinity
  return order.flatMap(({ id, priority }, i) => {
    before = Math.max(rows[i]?.priority ?? priority, before + 1)
    return before === priority ? [] : [[id, before] as const]
  })
}
