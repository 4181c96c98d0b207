/** The cursors of lists: opaque to clients, good for the list that gave them out and for no other. */
import { hash } from 'node:crypto'
import { elementsOf, pack, within, type Element } from './tuple.ts'

/** A cursor that no page of the list gave out: another list's, cut or made up. */
export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid'

  constructor() {
    super('The cursor is not of this list.')
  }
}

const listMarkBytes = 6

/** Identifies a list without saying which it is. */
const listMark = (prefix: Uint8Array): Buffer => hash('sha256', prefix, 'buffer').subarray(0, listMarkBytes)

/**
 * A cursor that stands on a key: what of it goes on behind the list's prefix, so that the address a list was asked for is not in it,
 * and addresses of pages in logs and browsers hold none.
 */
export function cursorAt(prefix: readonly Element[], key: Uint8Array): string {
  const first = pack(prefix)
  return Buffer.concat([listMark(first), key.subarray(first.length)]).toString('base64url')
}

/** The key that a cursor of the list stands on. Throws `CursorInvalid`. */
export function keyAt(prefix: readonly Element[], cursor: string): Uint8Array {
  const { start, end } = within(prefix)
  const given = Buffer.from(cursor, 'base64url')
  const first = pack(prefix)
  const isOfList = given.subarray(0, listMarkBytes).equals(listMark(first))
  const key = Buffer.concat([first, given.subarray(listMarkBytes)])
  const isInside = isOfList && Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0
  // decoding skips what is no base64url, and a key that was cut can still lie inside
  if (!isInside || given.toString('base64url') !== cursor || !elementsOf(key)) throw new CursorInvalid()
  return key
}

/** The first key after this one. */
export const keyAfter = (key: Uint8Array): Buffer => Buffer.concat([key, Buffer.of(0)])

/** Returns the range of the keys after the cursor, in the direction of the walk. */
export function cursorRange(
  prefix: readonly Element[],
  cursor: string | undefined,
  ascending: boolean,
): { start: Uint8Array; end: Uint8Array } {
  const range = within(prefix)
  if (cursor === undefined) return range
  const at = keyAt(prefix, cursor)
  return ascending ? { start: keyAfter(at), end: range.end } : { start: range.start, end: at }
}
