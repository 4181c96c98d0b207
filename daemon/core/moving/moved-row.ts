/** A row of the list of another service, as its readers give it, and what becomes of it here. */

/** What a list of another service says of an address. */
export const movedKinds = ['bounces', 'blocks', 'complaints', 'unsubscribes', 'invalid', 'manual', 'allowed'] as const
export type MovedKind = (typeof movedKinds)[number]

export interface MovedRow {
  /** The number of the row, from 1, without a header row. */
  readonly row: number
  /** The line of the file in which it begins, from 1. */
  readonly line: number
  /** Null where there is none. */
  readonly email: string | null
  readonly kind: MovedKind
  /** What the service says of it, with its name. */
  readonly reason: string | null
  /** Which mail the address is not to get: all of it, only mail of lists, or that of one list by its name. */
  readonly from: 'all' | 'lists' | { readonly list: string }
  /** Why it is not taken, where the reader knows. */
  readonly skipped?: string | undefined
  readonly problem?: string | undefined
}

const skippedKinds: Partial<Readonly<Record<MovedKind, string>>> = {
  blocks: 'a block is about one message; the service goes on to send to the address',
  allowed: 'the service sends to the address whatever happens; there is no such list here',
}

/** What an unsubscribe is from, where the caller says so. */
export interface UnsubscribesTo {
  /** The name of a list; `*` is all lists. */
  readonly list?: string | undefined
}

/** A row that is not taken, and why: nothing is wrong with one that is skipped. */
export interface NotTaken {
  readonly result: 'skipped' | 'refused'
  readonly message: string
}

/**
 * The suppression, or the list that the address has left; null is all lists. What is not taken is returned, not thrown: it may be every
 * one of millions of rows, and an error costs more than reading its row.
 */
export function placeOf(
  { email, kind, from, skipped, problem }: MovedRow,
  { list }: UnsubscribesTo,
): { readonly email: string; readonly list?: string | null } | NotTaken {
  if (problem !== undefined) return { result: 'refused', message: `the row ${problem}` }
  const why = skipped ?? skippedKinds[kind]
  if (why !== undefined) return { result: 'skipped', message: why }
  if (email === null) return { result: 'refused', message: 'the row has no address' }
  if (kind !== 'unsubscribes') return { email }
  if (list !== undefined) return { email, list: list === '*' ? null : list }
  if (from === 'all') return { email }
  return { email, list: from === 'lists' ? null : from.list }
}
