/** Which parts of a rendered text were filled in, so that who sends it sees what is theirs and what the template's. */

/** A part of a text. */
export interface Part {
  readonly text: string
  readonly isFilledIn: boolean
}

const variable = /\{\{ *[.$\p{L}_][\p{L}\p{N}_.$-]* *\}\}/gu
/** The rest of a text tells which of its branches were taken; it is not followed. */
const others = /\{\{|\}\}/
const words = /^\{\{ *(?:if|else|end|range|with) *\}\}$/

/**
 * The parts of what a template of words and variables made; the whole as one part where its source says more, or where a value repeats
 * the words behind it so that its end is not known.
 */
export function filledIn(source: string, rendered: string): readonly Part[] {
  const whole = [{ text: rendered, isFilledIn: false }]
  const variables = source.match(variable) ?? []
  const literals = source.split(variable)
  if (literals.some((text) => others.test(text)) || variables.some((text) => words.test(text))) return whole
  const parts: Part[] = []
  let at = 0
  for (const [number, literal] of literals.entries()) {
    const isLast = number === literals.length - 1
    const start = number === 0 ? 0 : isLast ? rendered.length - literal.length : literal === '' ? -1 : rendered.indexOf(literal, at)
    if (start < at || !rendered.startsWith(literal, start)) return whole
    parts.push({ text: rendered.slice(at, start), isFilledIn: true }, { text: literal, isFilledIn: false })
    at = start + literal.length
  }
  return at === rendered.length ? parts.filter(({ text }) => text !== '') : whole
}
