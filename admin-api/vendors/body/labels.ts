/** Tags and metadata in the form of other services. Keeps the values within our limits, and lists the others. */
import { labelLimits } from '#core/submission/labels.ts'
import { isOneLine } from '../../wire/fields/text.ts'

/** Accepted tags and metadata. `left` lists the others for the trace. */
export interface Labelled {
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, string>>
  readonly left: readonly string[]
}

/**
 * Accepts tags and metadata up to our limits, which are lower than the limits of some services. Entries that do not fit are listed, and the
 * message is still sent.
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

/** Entries that are examined in a list or map; far more than the limits allow. Many messages may share a list, and each examines it. */
export const maxLabelsSeen = 100

/** Returns entries of a map as metadata, each with its path. */
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

/** Returns entries of a list as tags, each with its path. */
export const tagsAt = (path: string, list: readonly string[] | null | undefined): (readonly [string, string])[] =>
  (list ?? []).slice(0, maxLabelsSeen).map((tag, i) => [`${path}[${String(i)}]`, tag])
