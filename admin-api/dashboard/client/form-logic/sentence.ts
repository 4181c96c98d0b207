/** A condition as plain text, for read-only views. */
import type { Comparison, Condition, Field } from '#core/forms/definition/definition.ts'
import { titleOf } from '../form-fields/field-kinds.ts'
import { plain } from '../parts/safe-text.tsx'
import { texts } from './logic-texts.ts'

export function sentenceOf(condition: Condition, fields: readonly Field[], isInside = false): string {
  const w = texts()
  if ('not' in condition) return `${w.not} (${sentenceOf(condition.not, fields)})`
  if ('field' in condition) return comparisonOf(condition, fields)
  const [parts, word] = 'all' in condition ? [condition.all, w.and] : [condition.any, w.or]
  const text = parts.map((part) => sentenceOf(part, fields, true)).join(` ${word} `)
  return isInside && parts.length > 1 ? `(${text})` : text
}

function comparisonOf({ field: key, op, value }: Comparison, fields: readonly Field[]): string {
  const w = texts()
  const field = fields.find((one) => one.key === key)
  const named = (one: string): string => plain(titleOf(fields.find((each) => each.key === one) ?? { key: one, type: 'text' }))
  const said = (one: string | number): string => {
    const option = field?.options?.find((each) => each.value === one)
    return typeof one === 'number' ? String(one) : w.quoted({ text: plain(option?.label.split('\n')[0] ?? one) })
  }
  const compared =
    value === undefined
      ? ''
      : typeof value === 'object' && 'field' in value
        ? w.answerTo({ name: named(value.field) })
        : [value].flat().map(said).join(', ')
  return [w.quoted({ text: named(key) }), w.operators[op], compared].filter((part) => part !== '').join(' ')
}
