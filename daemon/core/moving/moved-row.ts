/** A row in a list of another service, and its conversion. */

/** Kinds of entries in lists of other services. */
export const movedKinds = ['bounces', 'blocks', 'complaints', 'unsubscribes', 'invalid', 'manual', 'allowed'] as const
export type MovedKind = (typeof movedKinds)[number]

export interface MovedRow {
  /** Number of the row, starting at 1, without the header row. */
  readonly row: number
  /** First line of the row in the file, starting at 1. */
  readonly line: number
  /** Null if the row has no address. */
  readonly email: string | null
  readonly kind: MovedKind
  /** Reason according to the other service, with its name. */
  readonly reason: string | null
  /** Mail that the address must not receive: all mail, mail of all lists, or mail of the named list. */
  readonly from: 'all' | 'lists' | { readonly list: string }
  /** Reason to skip the row, if the reader knows it. */
  readonly skipped?: string | undefined
  readonly problem?: string | undefined
}

const skippedKinds: Partial<Readonly<Record<MovedKind, string>>> = {
  blocks: 'a block concerns one message; the service continues to send to the address',
  allowed: 'the service always sends to the address; Postern has no such list',
}

/** Target of unsubscribes according to the caller. */
export interface UnsubscribesTo {
  /** Name of a list; `*` for all lists. */
  readonly list?: string | undefined
}

/** A rejected row with its reason. A skipped row is valid but not needed. */
export interface NotTaken {
  readonly result: 'skipped' | 'refused'
  readonly message: string
}

/**
 * Returns the suppression, or the list of an opt-out; null for all lists. Rejections are returned instead of thrown, because a file can
 * have millions of them, and throwing costs more than reading a row.
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
