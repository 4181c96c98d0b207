/** Cursors of lists: opaque to clients, and valid only for the list that returned them. */
import { hash } from 'node:crypto'
import { elementsOf, pack, within, type Element } from './tuple.ts'

/** The cursor does not come from this list, or it is truncated or invented. */
export class CursorInvalid extends Error {
  override readonly name = 'CursorInvalid'

  constructor() {
    super('The cursor is not of this list.')
  }
}

const listMarkBytes = 6

/** Identifies a list without revealing it. */
const listMark = (prefix: Uint8Array): Buffer => hash('sha256', prefix, 'buffer').subarray(0, listMarkBytes)

/**
 * Returns a cursor for a key. It contains only the part of the key after the prefix of the list, so that addresses in filters do not appear
 * in logs and browser histories.
 */
export function cursorAt(prefix: readonly Element[], key: Uint8Array): string {
  const first = pack(prefix)
  return Buffer.concat([listMark(first), key.subarray(first.length)]).toString('base64url')
}

/** Returns the key of a cursor. Throws `CursorInvalid`. */
export function keyAt(prefix: readonly Element[], cursor: string): Uint8Array {
  const { start, end } = within(prefix)
  const given = Buffer.from(cursor, 'base64url')
  const first = pack(prefix)
  const isOfList = given.subarray(0, listMarkBytes).equals(listMark(first))
  const key = Buffer.concat([first, given.subarray(listMarkBytes)])
  const isInside = isOfList && Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0
  // decoding skips characters outside base64url, and a truncated key can still be inside the list
  if (!isInside || given.toString('base64url') !== cursor || !elementsOf(key)) throw new CursorInvalid()
  return key
}

/** Returns the first possible key after this key. */
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
