/** Tags and metadata as other services take them: what fits is kept, and the rest is named. */
import { labelLimits } from '#core/submission/labels.ts'
import { isOneLine } from '../../wire/fields/text.ts'

/** What fits into tags and metadata; `left` names the rest, which the trace lists. */
export interface Labelled {
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly left: readonly string[]
}

/**
 * Tags and metadata of services that take longer or more of them. They are the sender's own notes, so a message does not fail by them:
 * as many as there is room for are kept, and the others are named.
 */
export function labelled(
  tags: readonly (readonly [path: string, tag: string])[],
  metadata: readonly (readonly [path: string, name: string, value: unknown])[],
): Labelled {
  const kept: string[] = []
  const fields = new Map<string, string>()
  const left: string[] = []
  let room: number = labelLimits.metadata
  for (const [path, tag] of tags) {
    if (isFilled(tag, labelLimits.tag) && kept.length < labelLimits.tags) kept.push(tag)
    else left.push(path)
  }
  for (const [path, name, given] of metadata) {
    const value = typeof given === 'string' ? given : JSON.stringify(given)
    const isFitting = isFilled(name, labelLimits.name) && name !== '__proto__' && isOneLine(value) && value.length <= labelLimits.value
    const size = name.length + value.length
    if (isFitting && size <= room && (fields.has(name) || fields.size < labelLimits.fields)) {
      fields.set(name, value)
      room -= size
    } else left.push(path)
  }
  return { tags: kept, metadata: Object.fromEntries(fields), left }
}

const isFilled = (given: string, max: number): boolean => given.trim() !== '' && given.length <= max && isOneLine(given)

/** Of a list or a map: far more than have room. Many messages may have the same ones, each of which looks at them. */
export const maxLabelsSeen = 100

/** Entries of a map as metadata, each with its place. */
export function metadataAt(
  path: string,
  map: Readonly<Record<string, unknown>> | null | undefined,
): (readonly [string, string, unknown])[] {
  const entries: (readonly [string, string, unknown])[] = []
  for (const name in map) {
    if (entries.length >= maxLabelsSeen) break
    if (Object.hasOwn(map, name)) entries.push([`${path}.${name.slice(0, 64)}`, name, map[name]])
  }
  return entries
}

/** Entries of a list as tags, each with its place. */
export const tagsAt = (path: string, list: readonly string[] | null | undefined): (readonly [string, string])[] =>
  (list ?? []).slice(0, maxLabelsSeen).map((tag, i) => [`${path}[${String(i)}]`, tag])
