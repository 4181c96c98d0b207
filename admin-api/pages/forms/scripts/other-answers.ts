/** What a visitor writes beside the options of a field, as forms send it: the option "other", and a text under a name of its own. */

/** What comes with a value that is none of the options, under a name that no field can have. */
export const otherOf = (key: string): string => `${key}~other`
export const otherValue = '~other'

/** The text beside an option that says "other" is the answer where that option is chosen. */
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

/** The first of several; undefined where there is no text. */
export function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}
