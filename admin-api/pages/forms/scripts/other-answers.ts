/** Custom answers of a field with options: the option "other", and a text under a separate name. */

/** Returns the name of the text for "other"; no field can have such a name. */
export const otherOf = (key: string): string => `${key}~other`
export const otherValue = '~other'

/** Replaces the option "other" by its text. */
export function withOther(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const marked = otherOf('')
  const texts = Object.keys(values).filter((key) => key.endsWith(marked))
  if (texts.length === 0) return values
  const result = Object.fromEntries(Object.entries(values).filter(([key]) => !key.endsWith(marked)))
  for (const name of texts) {
    const key = name.slice(0, -marked.length)
    const chosen = firstText(result[key])
    if (chosen === otherValue || chosen === undefined) result[key] = firstText(values[name]) ?? ''
  }
  return result
}

/** Returns the first of several values; undefined without a text. */
export function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}
