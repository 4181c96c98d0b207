/** What JSON from outside may hold, counted before anything of it is built. */

export interface JsonBounds {
  readonly depth: number
  /** Objects and lists. */
  readonly containers: number
  /** Members of all objects together. */
  readonly members: number
}

/** Of a document that is read as a whole: at these bounds it costs less than 100 ms of a slow processor. */
export const documentBounds: JsonBounds = { depth: 64, containers: 100_000, members: 100_000 }

const quote = 0x22
const backslash = 0x5c

/** Whether a text of JSON stays within bounds; of what is no JSON it says nothing. Strings are passed over. */
export function isWithinBounds(text: string, { depth, containers, members }: JsonBounds): boolean {
  let open = 0
  let opened = 0
  let named = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit === quote) at = endOfString(text, at + 1)
    else if (unit === 0x7b || unit === 0x5b) {
      if (++open > depth || ++opened > containers) return false
    } else if (unit === 0x7d || unit === 0x5d) open--
    else if (unit === 0x3a && ++named > members) return false
  }
  return true
}

function endOfString(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}
