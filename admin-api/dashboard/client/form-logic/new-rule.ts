/** A rule to begin with: it looks at a question, and shows something behind it. */
import type { Field, Rule, Schema } from '#core/forms/definition/definition.ts'
import { inReadingOrder } from '#core/forms/definition/layout.ts'
import { firstOf, isLookedAt } from './condition.tsx'

/** About the first question and what is behind it, or about that target; undefined where nothing can be looked at before it. */
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
