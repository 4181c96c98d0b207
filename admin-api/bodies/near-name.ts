/** "Did you mean": the known name nearest to one that was mistyped. */
import { nearest } from '#config/words/closest.ts'

/**
 * The known name that differs only in spelling style (`replyTo` for `reply_to`) or by few edits: one for names up to five
 * letters, two for longer ones. Nothing when no name is that near.
 */
export const nearName = (given: string, known: readonly string[]): string | undefined =>
  given.length > 64 ? undefined : nearest(given, known, { most: given.length > 5 ? 2 : 1, fold })

const fold = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase()
