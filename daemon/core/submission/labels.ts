/** Tags and metadata of a message: the sender's own words about it, which recipients never see. */
import { comparable } from '../trace/comparable.ts'
import type { Trace } from '../trace/trace.ts'

export const labelLimits = {
  tags: 10,
  tag: 255,
  fields: 20,
  name: 64,
  value: 500,
  /** Characters of all names and values together: they are read with every trace of a list. */
  metadata: 4096,
} as const

/** Tags, none of them twice, and metadata, and in whose words it was sent; what is empty is left out. */
export type Labels = Pick<Trace, 'tags' | 'metadata' | 'dialect'>

/** Tags that differ in case alone are one; the first spelling stays. */
export function labelsOf(given: Labels): Labels | undefined {
  const tags = [...new Map((given.tags ?? []).toReversed().map((tag) => [comparable(tag), tag])).values()].toReversed()
  const { metadata = {}, dialect } = given
  if (tags.length === 0 && Object.keys(metadata).length === 0 && !dialect) return undefined
  return { ...(tags.length > 0 && { tags }), ...(Object.keys(metadata).length > 0 && { metadata }), ...(dialect && { dialect }) }
}
