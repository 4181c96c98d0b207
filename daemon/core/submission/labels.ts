/** Tags and metadata of a message, set by the sender and never shown to recipients. */
import { comparable } from '../trace/comparable.ts'
import type { Trace } from '../trace/trace.ts'

export const labelLimits = {
  tags: 10,
  tag: 255,
  fields: 20,
  name: 64,
  value: 500,
  /** Maximum total characters of all names and values. Every list of traces reads them. */
  metadata: 4096,
} as const

/** Unique tags, metadata, and the other vendor's API format that the request uses. Empty fields are omitted. */
export type Labels = Pick<Trace, 'tags' | 'metadata' | 'dialect'>

/** Removes duplicate tags, ignoring case; keeps the first spelling. Returns undefined if nothing remains. */
export function labelsOf(given: Labels): Labels | undefined {
  const tags = [...new Map((given.tags ?? []).toReversed().map((tag) => [comparable(tag), tag])).values()].toReversed()
  const { metadata = {}, dialect } = given
  if (tags.length === 0 && Object.keys(metadata).length === 0 && !dialect) return undefined
  return { ...(tags.length > 0 && { tags }), ...(Object.keys(metadata).length > 0 && { metadata }), ...(dialect && { dialect }) }
}
