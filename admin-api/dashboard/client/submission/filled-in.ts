/** Which parts of a rendered text were filled in, so that who sends it sees what is theirs and what the template's. */
import type { FormReplyPreview } from '../wire/operations.ts'

/** A part of a text; one that was filled in is empty where its value is. */
export interface Part {
  readonly text: string
  readonly isFilledIn: boolean
}

/** The parts of a text, in their order, of which the service says where values stand. */
export function filledIn(rendered: string, filled: FormReplyPreview['filled']['text']): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  for (const { start, end } of filled) {
    parts.push({ text: rendered.slice(at, start), isFilledIn: false }, { text: rendered.slice(start, end), isFilledIn: true })
    at = end
  }
  parts.push({ text: rendered.slice(at), isFilledIn: false })
  return parts.filter(({ text, isFilledIn }) => isFilledIn || text !== '')
}
