/** Dates and times in forms: local, without a time zone. */

export type DateType = 'date' | 'time' | 'datetime'

const forms: Readonly<Record<DateType, RegExp>> = {
  date: /^(\d{4})-(\d{2})-(\d{2})$/,
  time: /^(\d{2}):(\d{2})(?::\d{2})?$/,
  datetime: /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::\d{2})?$/,
}

export const isDateType = (type: string): type is DateType => Object.hasOwn(forms, type)

/** Returns the normalized value without seconds, so that text order is time order. Returns undefined for invalid text. */
export function dateOf(type: DateType, text: string): string | undefined {
  const found = forms[type].exec(text)
  if (!found) return undefined
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = found.slice(1).map(Number)
  const isDay = type === 'time' || isDate(first, second, third)
  const [hours, minutes] = type === 'time' ? [first, second] : [fourth, fifth]
  if (!isDay || hours > 23 || minutes > 59) return undefined
  return text.slice(0, { date: 10, time: 5, datetime: 16 }[type])
}

function isDate(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]!
}

const relative = /^today(?:([+-])(\d{1,5})d)?$/

/** Whether the text is a bound such as `2026-12-24` or `today+14d`. */
export const isDateBound = (type: DateType, bound: string): boolean =>
  dateOf(type, bound) !== undefined || (type !== 'time' && relative.test(bound))

/** Returns the bound as a date. `slackDays` allows for other time zones. */
export function boundOf(type: DateType, bound: string, today: string, slackDays: number): string | undefined {
  const found = relative.exec(bound)
  if (!found || type === 'time') return dateOf(type, bound)
  const days = Number(found[2] ?? 0) * (found[1] === '-' ? -1 : 1) + slackDays
  const date = new Date(Date.parse(`${today}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
  return type === 'date' ? date : `${date}T00:00`
}
