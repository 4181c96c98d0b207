/** Splits a rendered text into template parts and filled-in values, so that the sender sees the source of each part. */
import type { FormReplyPreview } from '../wire/api.d.ts'

/** A part of a text. A filled-in part is empty if its value is empty. */
export interface Part {
  readonly text: string
  readonly isFilledIn: boolean
}

/** Returns the parts of a text in order. The service reports the positions of the values. */
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
