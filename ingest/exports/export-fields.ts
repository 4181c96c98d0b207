/** The fields of a row, whatever a service calls them in a file or in JSON. */

export type Values = ReadonlyMap<string, unknown>

/** A name without case, blanks and marks: `Email Address`, `email_address` and `emailAddress` are the same. */
export const nameOf = (name: string): string =>
  name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

/** The fields by such names; those of an object inside are `recipient.email`. */
export function valuesOf(fields: Readonly<Record<string, unknown>>): Values {
  const values = new Map<string, unknown>()
  for (const [name, value] of Object.entries(fields)) {
    values.set(nameOf(name), value)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    for (const [inner, one] of Object.entries(value)) values.set(`${nameOf(name)}.${nameOf(inner)}`, one)
  }
  return values
}

const maxText = 320

/** A text or number on one line, without what cannot be seen; undefined where there is none. */
export function textOf(value: unknown, most = maxText): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
    .slice(0, most)
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
  return text === '' ? undefined : text.toWellFormed()
}

/** Yes as files and JSON say it. */
export const isYes = (value: unknown): boolean => value === true || value === 1 || /^(?:true|yes|1)$/i.test(textOf(value) ?? '')

/** The day of a time in seconds, or in a form that services write. */
export function dayOf(value: unknown): string | undefined {
  const text = textOf(value, 40)
  if (text === undefined) return undefined
  const seconds = /^\d{9,10}(?:\.\d+)?$/.test(text) ? Number(text) : undefined
  const time = new Date(seconds === undefined ? text : seconds * 1000)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().slice(0, 10)
}
