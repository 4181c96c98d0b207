/** Initial rule: tests a field and shows a later one. */
import type { Field, Rule, Schema } from '#core/forms/definition/definition.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import { firstOf, isLookedAt } from './condition.tsx'

/**
 * Returns a rule about the first testable field and a later field, or the given target. Undefined if no testable field precedes the target.
 */
export function newRule(schema: Schema, rules: readonly Rule[], wanted?: string): Rule | undefined {
  const ordered = inReadingOrder(schema)
  const isTarget = ({ key, type }: Field): boolean => (wanted === undefined ? type !== 'page_break' : key === wanted)
  const at = ordered.findIndex(isLookedAt)
  const [field, target] = [ordered[at], ordered.slice(at + 1).find(isTarget)]
  if (!field || !target) return undefined
  const ids = new Set(rules.map(({ id }) => id))
  const id = Array.from({ length: rules.length + 1 }, (_, n) => `rule-${String(n + 1)}`).find((one) => !ids.has(one)) ?? 'rule'
  return { id, when: firstOf(field), then: [{ action: 'show', target: target.key }] }
}
