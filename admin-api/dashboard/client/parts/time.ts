/** Formats times and numbers in the current language. Exact times in UTC serve tooltips and copies. */
import { localeOf } from '#config/texts/formats.ts'
import { language, type Language } from '../texts/language.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language.value} ${JSON.stringify(options)}`
  const made = formats.get(key) ?? new Intl.DateTimeFormat(localeOf(language.value), options)
  formats.set(key, made)
  return made
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const

const isSameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString()

/** Formats the time for today, weekday and time within the last six days, else the date. */
export function shortTime(at: string, isNarrow = false): string {
  const [date, now] = [new Date(at), new Date()]
  const hours = isNarrow ? ({ hour: '2-digit', minute: '2-digit' } as const) : clock
  if (isSameDay(date, now)) return format(hours).format(date)
  const days = (now.getTime() - date.getTime()) / 86_400_000
  if (days < 6 && days > 0) return format({ weekday: 'short', hour: '2-digit', minute: '2-digit' }).format(date)
  return format({ day: 'numeric', month: 'short', ...(date.getFullYear() !== now.getFullYear() && { year: 'numeric' }) }).format(date)
}

/** Formats the time for today, else the date with the time. For times in the future. */
export function timeAhead(at: string): string {
  const [date, now] = [new Date(at), new Date()]
  const day = isSameDay(date, now) ? {} : ({ day: 'numeric', month: 'short' } as const)
  return format({ ...day, hour: '2-digit', minute: '2-digit' }).format(date)
}

/** Formats date and time with the time zone. */
export const longTime = (at: string): string =>
  format({ day: 'numeric', month: 'short', year: 'numeric', ...clock, timeZoneName: 'short' }).format(new Date(at))

/** Formats date and time with the time zone, and the exact UTC time. Used in tooltips. */
export const exactTime = (at: string): string => `${longTime(at)} · ${at}`

/** Formats `08:14 UTC`, with the date if it differs from the local one. */
export function utcTime(at: string): string {
  const date = new Date(at)
  const isOtherDay = date.getUTCDate() !== date.getDate()
  const day = isOtherDay ? ({ day: 'numeric', month: 'short' } as const) : {}
  return `${format({ ...day, hour: '2-digit', minute: '2-digit', timeZone: 'UTC' }).format(date)} UTC`
}

export const dateOnly = (at: string): string => format({ day: 'numeric', month: 'short', year: 'numeric' }).format(new Date(at))

/** Formats `09:14:02`. */
export const clockTime = (at: string): string => new Date(at).toLocaleTimeString(localeOf(language.value))

/** Formats `09:14:02.118`. */
export const preciseTime = (at: string): string => {
  const date = new Date(at)
  return `${format(clock).format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

export const month = (): string => format({ month: 'long' }).format(new Date())

/** Formats the difference of two times as `+39 s`. */
export const gap = (from: string, to: string): string => `+${span(Date.parse(to) - Date.parse(from))}`

const dayUnit: Readonly<Record<Language, string>> = { en: 'd', de: 'T', fr: 'j', it: 'g' }

export function span(milliseconds: number): string {
  if (milliseconds < 1000) return `${String(Math.round(milliseconds))}\u00a0ms`
  const seconds = milliseconds / 1000
  if (seconds < 10) return `${decimal(seconds, 1)}\u00a0s`
  if (seconds < 90) return `${number(Math.round(seconds))}\u00a0s`
  if (seconds < 5400) return `${String(Math.round(seconds / 60))}\u00a0min`
  if (seconds < 129_600) return `${String(Math.round(seconds / 3600))}\u00a0h`
  return `${number(Math.round(seconds / 86_400))}\u00a0${dayUnit[language.value]}`
}

/** Formats `12 408` with the group separator of the language. */
export const number = (value: number): string => decimal(value, 0, 3)

/** Formats a number with a minimum and a maximum of decimal places. */
export function decimal(value: number, places: number, most = places): string {
  return new Intl.NumberFormat(localeOf(language.value), { minimumFractionDigits: places, maximumFractionDigits: most }).format(value)
}

/** Formats a share from 0 to 1 as `3.2 %`. */
export const percent = (share: number, places = share > 0 && share < 0.1 ? 1 : 0): string => `${decimal(share * 100, places)}\u00a0%`

/** Formats `1.2 MiB`, in French `1,2 Mio`. */
export function bytes(size: number): string {
  const unit = language.value === 'fr' ? 'o' : 'B'
  if (size < 1024) return `${number(size)}\u00a0${unit}`
  if (size < 1_048_576) return `${number(Math.round(size / 1024))}\u00a0Ki${unit}`
  return size < 1_073_741_824 ? `${decimal(size / 1_048_576, 1)}\u00a0Mi${unit}` : `${decimal(size / 1_073_741_824, 1)}\u00a0Gi${unit}`
}

/** Formats rappen as `CHF 3.50`, with more decimals for amounts below one rappen. */
export const francs = (rappen: number): string => `CHF ${decimal(rappen / 100, 2, rappen < 1 ? 6 : 2)}`

/** Formats credits, which the API returns as text with up to six decimals: `1 234.5`. Below one, it keeps two significant digits. */
export function credits(text: string): string {
  const value = Number(text)
  const zeros = value === 0 ? 0 : Math.max(0, -Math.ceil(Math.log10(Math.abs(value))))
  return decimal(value, 0, Math.min(6, 2 + zeros))
}

/** Returns the value of a `datetime-local` input in the browser's time zone. Empty for no time. */
export function localInput(at: string | null): string {
  if (at === null || Number.isNaN(Date.parse(at))) return ''
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
