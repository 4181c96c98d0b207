/** "Did you mean": finds the known name closest to a mistyped name. */
import { nearest } from '#config/texts/closest.ts'

/**
 * Returns the known name that differs only in spelling style (`replyTo` for `reply_to`) or by few edits: one for names up to five letters,
 * two for longer names. Returns undefined if no name is close enough.
 */
export const nearName = (given: string, known: readonly string[]): string | undefined =>
  given.length > 64 ? undefined : nearest(given, known, { most: given.length > 5 ? 2 : 1, fold })

const fold = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()
