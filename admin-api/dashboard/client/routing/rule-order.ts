/** Rules as they are written, and the order in which they are tried. */
import type { RoutingRule } from '../wire/operations.ts'

/** As it is written in the form: an address, a domain, or `*`. */
export const matchOf = ({ match }: Pick<RoutingRule, 'match'>): string =>
  'from' in match ? match.from : 'domain' in match ? match.domain : '*'

/** The priorities that have to change for the rule to stand so many places later; places keep theirs, each above the one before. */
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
