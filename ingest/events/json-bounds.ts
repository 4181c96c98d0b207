/** Limits for foreign JSON, checked without parsing it. */

export interface JsonBounds {
  readonly depth: number
  /** Objects and arrays. */
  readonly containers: number
  /** Members of all objects together. */
  readonly members: number
}

/** Limits of a document that is parsed as a whole. Parsing it takes less than 100 ms on a slow processor. */
export const documentBounds: JsonBounds = { depth: 64, containers: 100_000, members: 100_000 }

const quote = 0x22
const backslash = 0x5c

/** Reports whether JSON text stays within bounds. The text need not be valid JSON. The content of strings is skipped. */
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
