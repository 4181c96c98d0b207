/** The bounds of an answer in the words of a language: who went beyond them is told where they are. */
import type { Field } from '#core/forms/definition/definition.ts'

type Bound = Field['min']

interface RangeWords {
  readonly between: (least: string, most: string) => string
  readonly atLeast: (least: string) => string
  readonly atMost: (most: string) => string
  readonly notBefore: (first: string) => string
  readonly notAfter: (last: string) => string
  /** The bounds move with the day, and the control shows them. */
  readonly outside: (label: string) => string
}

const isRelative = (bound: Bound): boolean => typeof bound === 'string' && bound.startsWith('today')

/** Of fields with `min` and `max`: numbers, ratings, scales, dates and times. */
export const rangeIn =
  (lang: string, words: RangeWords) =>
  (field: Field, label: string): string => {
    const { type, min = type === 'rating' ? 1 : type === 'scale' ? 0 : undefined, max } = field
    if (isRelative(min) || isRelative(max)) return words.outside(label)
    const [least, most] = [said(lang, type, min), said(lang, type, max)]
    if (least !== undefined && most !== undefined) return words.between(least, most)
    const isTime = typeof (min ?? max) === 'string'
    if (least !== undefined) return (isTime ? words.notBefore : words.atLeast)(least)
    return most === undefined ? words.outside(label) : (isTime ? words.notAfter : words.atMost)(most)
  }

function said(lang: string, type: Field['type'], bound: Bound): string | undefined {
  if (bound === undefined) return undefined
  if (typeof bound === 'number') return new Intl.NumberFormat(lang).format(bound)
  if (type === 'time') return bound
  const date = new Date(type === 'datetime' ? `${bound}Z` : bound)
  if (Number.isNaN(date.getTime())) return bound
  return new Intl.DateTimeFormat(lang, { dateStyle: 'long', ...(type === 'datetime' && { timeStyle: 'short' }), timeZone: 'UTC' }).format(
    date,
  )
}
