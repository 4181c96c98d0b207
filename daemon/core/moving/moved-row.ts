/** A row of the list of another service, as its readers give it, and what becomes of it here. */
import { Refusal } from '../refusals.ts'

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

/** It is not taken, and nothing is wrong with it. */
export class Skipped extends Error {}

const skippedKinds: Partial<Readonly<Record<MovedKind, string>>> = {
  blocks: 'a block is about one message; the service goes on to send to the address',
  allowed: 'the service sends to the address whatever happens; there is no such list here',
}

/** What an unsubscribe is from, where the caller says so. */
export interface UnsubscribesTo {
  /** The name of a list; `*` is all lists. */
  readonly list?: string | undefined
}

/** The suppression, or the list that the address has left; null is all lists. Throws `Skipped` and `validation_failed`. */
export function placeOf(
  { email, kind, from, skipped, problem }: MovedRow,
  { list }: UnsubscribesTo,
): { readonly email: string; readonly list?: string | null } {
  if (problem !== undefined) throw new Refusal('validation_failed', `the row ${problem}`)
  const why = skipped ?? skippedKinds[kind]
  if (why !== undefined) throw new Skipped(why)
  if (email === null) throw new Refusal('validation_failed', 'the row has no address')
  if (kind !== 'unsubscribes') return { email }
  if (list !== undefined) return { email, list: list === '*' ? null : list }
  if (from === 'all') return { email }
  return { email, list: from === 'lists' ? null : from.list }
}
