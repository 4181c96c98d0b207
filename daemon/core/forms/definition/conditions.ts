/**
 * Evaluates conditions on answers. Conditions are data, not code. A comparison with an empty answer is false, or true for a negated
 * operator.
 */
import { dateOf, isDateType } from './dates.ts'
import {
  valueKinds,
  type Answer,
  type Answers,
  type Comparison,
  type Condition,
  type Field,
  type Operator,
  type ValueKind,
} from './definition.ts'

const equality = ['eq', 'ne', 'in', 'not_in'] as const
const emptiness = ['is_empty', 'not_empty'] as const

/** Operators by kind of answer. */
const operatorTable = (): Readonly<Record<ValueKind, readonly Operator[]>> => ({
  text: [...equality, 'contains', 'not_contains', 'starts_with', 'ends_with', ...emptiness],
  number: [...equality, 'gt', 'gte', 'lt', 'lte', ...emptiness],
  date: ['eq', 'ne', 'before', 'after', ...emptiness],
  choice: [...equality, ...emptiness],
  boolean: ['checked', 'unchecked'],
  choices: ['contains', 'not_contains', 'count_gte', 'count_lte', ...emptiness],
  file: emptiness,
  none: [],
})

export const operatorsOf = /* @__PURE__ */ operatorTable() // lets bundlers drop the table for browsers

/** Operators without a right side, with a list, or with a count for every field type. */
export const withoutValue: ReadonlySet<Operator> = new Set<Operator>(['is_empty', 'not_empty', 'checked', 'unchecked'])
export const withList: ReadonlySet<Operator> = new Set<Operator>(['in', 'not_in'])
export const withCount: ReadonlySet<Operator> = new Set<Operator>(['count_gte', 'count_lte'])
/** Operators that can compare with another field of the same kind. */
export const withField: ReadonlySet<Operator> = new Set<Operator>(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'before', 'after'])

/** Whether the condition is true. `answers` contains only answered fields. */
export function holds(condition: Condition, answers: Answers, fields: ReadonlyMap<string, Field>): boolean {
  if ('all' in condition) return condition.all.every((each) => holds(each, answers, fields))
  if ('any' in condition) return condition.any.some((each) => holds(each, answers, fields))
  if ('not' in condition) return !holds(condition.not, answers, fields)
  return compares(condition, answers, fields)
}

function compares({ field: key, op, value }: Comparison, answers: Answers, fields: ReadonlyMap<string, Field>): boolean {
  const field = fields.get(key)
  const answer = answers[key]
  if (!field) return false
  if (op === 'is_empty') return answer === undefined
  if (op === 'not_empty') return answer !== undefined
  if (op === 'checked') return answer === true
  if (op === 'unchecked') return answer !== true
  if (withCount.has(op)) {
    const count = Array.isArray(answer) ? answer.length : 0
    return op === 'count_gte' ? count >= Number(value) : count <= Number(value)
  }
  const right = typeof value === 'object' && 'field' in value ? answers[value.field] : value
  const isNegated = op === 'ne' || op === 'not_in' || op === 'not_contains'
  if (answer === undefined || right === undefined) return isNegated
  return isNegated !== fits(positive[op] ?? op, field, answer, right)
}

const positive: { readonly [Op in Operator]?: Operator } = { ne: 'eq', not_in: 'in', not_contains: 'contains' }

function fits(op: Operator, field: Field, answer: Answer, right: Answer | readonly number[]): boolean {
  const left = typeof answer === 'object' ? answer.map((each) => comparable(field, each)) : comparable(field, answer)
  if (op === 'in') return Array.isArray(right) && right.some((each: string | number) => comparable(field, each) === left)
  const other = comparable(field, right as string | number)
  if (op === 'eq') return left === other
  if (op === 'contains') return Array.isArray(left) ? left.includes(other) : String(left).includes(String(other))
  if (op === 'starts_with') return String(left).startsWith(String(other))
  if (op === 'ends_with') return String(left).endsWith(String(other))
  if (op === 'gt' || op === 'after') return left > other
  if (op === 'gte') return left >= other
  if (op === 'lt' || op === 'before') return left < other
  return op === 'lte' && left <= other
}

/** Returns a comparable value: text in lower case, dates in normalized form. */
function comparable({ type }: Field, value: string | number | boolean): string | number {
  if (typeof value !== 'string') return Number(value)
  if (isDateType(type)) return dateOf(type, value) ?? value
  return valueKinds[type] === 'text' ? value.toLowerCase() : value
}

/** Returns the keys of fields in a condition. */
export function fieldsIn(condition: Condition): readonly string[] {
  if ('all' in condition) return condition.all.flatMap(fieldsIn)
  if ('any' in condition) return condition.any.flatMap(fieldsIn)
  if ('not' in condition) return fieldsIn(condition.not)
  const { field, value } = condition
  return typeof value === 'object' && 'field' in value ? [field, value.field] : [field]
}
