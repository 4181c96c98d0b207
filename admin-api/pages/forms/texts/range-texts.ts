/** The limits of an answer in words, for visitors who exceeded them. */
import type { Field } from '#core/forms/definition/definition.ts'
import type { FormTexts } from './texts-for.ts'

type Bound = Field['min']

const isRelative = (bound: Bound): boolean => typeof bound === 'string' && bound.startsWith('today')

/**
 * Returns the limits of fields with `min` and `max`: numbers, ratings, scales, dates and times. Relative limits change with the day, so the
 * control shows them.
 */
export function rangeSentence({ lang, range }: FormTexts, field: Field, label: string): string {
  const { type, min = type === 'rating' ? 1 : type === 'scale' ? 0 : undefined, max } = field
  if (isRelative(min) || isRelative(max)) return range.outside({ label })
  const [least, most] = [said(lang, type, min), said(lang, type, max)]
  if (least !== undefined && most !== undefined) return range.between({ least, most })
  const isTime = typeof (min ?? max) === 'string'
  if (least !== undefined) return isTime ? range.notBefore({ first: least }) : range.atLeast({ least })
  if (most === undefined) return range.outside({ label })
  return isTime ? range.notAfter({ last: most }) : range.atMost({ most })
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
