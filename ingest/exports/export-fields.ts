/** Reads the fields of a row under a common name, independent of the spelling that a service uses. */

export type Values = ReadonlyMap<string, unknown>

/** Normalizes a field name to lower-case letters and digits: `Email Address`, `email_address` and `emailAddress` are equal. */
export const nameOf = (name: string): string =>
  name
    .slice(0, 100)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

/** The fields by normalized name. Fields of a nested object have names such as `recipient.email`. */
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

/** A string or number as one line without control and other invisible characters. Undefined if nothing remains. */
export function textOf(value: unknown, most = maxText): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
    .slice(0, most)
    .replaceAll(/\p{C}+/gu, ' ')
    .trim()
  return text === '' ? undefined : text.toWellFormed()
}

/** Reports whether a value of a CSV or JSON file means yes. */
export const isYes = (value: unknown): boolean => value === true || value === 1 || /^(?:true|yes|1)$/i.test(textOf(value) ?? '')

/** The day of a Unix time in seconds, or of a date in a form that services write. */
export function dayOf(value: unknown): string | undefined {
  const text = textOf(value, 40)
  if (text === undefined) return undefined
  const seconds = /^\d{9,10}(?:\.\d+)?$/.test(text) ? Number(text) : undefined
  const time = new Date(seconds === undefined ? text : seconds * 1000)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().slice(0, 10)
}
