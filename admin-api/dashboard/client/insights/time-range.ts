/** Period of the plots from the address, and labels of its steps. Labels are in UTC or in the time zone of the browser. */
import { localeOf } from '#config/texts/formats.ts'
import { query } from '../app/location.ts'
import { language } from '../texts/language.ts'

export const ranges = ['24h', '7d', '30d', '90d'] as const
export type Range = (typeof ranges)[number]

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const spans: Readonly<Record<Range, { readonly ms: number; readonly stepMs: number }>> = {
  '24h': { ms: dayMs, stepMs: hourMs / 2 },
  '7d': { ms: 7 * dayMs, stepMs: 3 * hourMs },
  '30d': { ms: 30 * dayMs, stepMs: 12 * hourMs },
  '90d': { ms: 90 * dayMs, stepMs: dayMs },
}

export const rangeOf = (search: URLSearchParams): Range => ranges.find((one) => one === search.get('range')) ?? '24h'
export const isUtc = (search: URLSearchParams): boolean => search.get('zone') === 'utc'
export const isCompared = (search: URLSearchParams): boolean => search.get('compare') === '1'

export interface TimeSpan {
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

/**
 * Returns the period up to and including the current step. Half-day steps start at midnight of the displayed zone, days at midnight UTC.
 */
export function spanOf(range: Range, utc: boolean, now: number): TimeSpan {
  const { ms, stepMs } = spans[range]
  const offset = utc || stepMs === dayMs ? 0 : Math.round(-new Date(now).getTimezoneOffset() / 60) * hourMs
  const to = Math.floor((now + offset) / stepMs) * stepMs + stepMs - offset
  return { from: to - ms, to, stepMs }
}

export const earlier = ({ from, to, stepMs }: TimeSpan): TimeSpan => ({ from: from - (to - from), to: from, stepMs })

/** Returns query parameters of the insight operations. */
export const asQuery = ({ from, to, stepMs }: TimeSpan): { from: string; to: string; step_seconds: number } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
  step_seconds: stepMs / 1000,
})

const locale = (): string => localeOf(language.value)

function formatted(time: number, options: Intl.DateTimeFormatOptions): string {
  const zone = isUtc(query.value) ? { timeZone: 'UTC' } : {}
  return new Intl.DateTimeFormat(locale(), { ...options, ...zone }).format(time)
}

const clock = { hour: '2-digit', minute: '2-digit' } as const
const date = { day: 'numeric', month: 'short' } as const

/** Returns the full label of a step. */
export const stepLabel = (time: number, stepMs: number): string =>
  stepMs >= dayMs
    ? new Intl.DateTimeFormat(locale(), { weekday: 'short', ...date, timeZone: 'UTC' }).format(time)
    : formatted(time, { weekday: 'short', ...date, ...clock })

/** Returns the label of a point in time within a period of that length. */
export const momentLabel = (time: number, spanMs: number): string => formatted(time, spanMs <= dayMs ? clock : { ...date, ...clock })

/**
 * Returns the date of a step. The extra hour corrects steps just before midnight, after a clock change or in zones with a fractional
 * offset.
 */
const dateOf = (time: number): string => formatted(time + hourMs, date)

/** Returns as many axis labels as fit, with the last one for now. */
export function axisLabels(times: readonly number[], stepMs: number, width: number, now: string): readonly (readonly [number, string])[] {
  const most = Math.max(2, Math.min(5, Math.floor(width / 130)))
  const every = Math.max(1, Math.ceil(times.length / most))
  const isOfOneDay = times.length * stepMs <= dayMs
  const labels: (readonly [number, string])[] = []
  for (let at = 0; at < times.length - every / 2; at += every)
    labels.push([at, isOfOneDay ? formatted(times[at] ?? 0, clock) : stepMs >= dayMs ? dayLabel(times[at] ?? 0) : dateOf(times[at] ?? 0)])
  return [...labels, [times.length - 1, now]]
}

/** Returns the label of a UTC day. */
export const dayLabel = (time: number): string => new Intl.DateTimeFormat(locale(), { ...date, timeZone: 'UTC' }).format(time)

/** Returns a duration such as `3 h`. Days are always UTC days. */
export function stepName(stepMs: number): string {
  if (stepMs < hourMs) return `${String(stepMs / 60_000)} min`
  return `${String(stepMs / hourMs)} h${stepMs >= dayMs ? ' (UTC)' : ''}`
}
