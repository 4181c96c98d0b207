/** Places in a text, for messages about it. */

/** Returns line and column of an offset as editors show them, from 1. Offset and column are in UTF-16 units. */
export function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  let line = 1
  let start = 0
  for (let i = 0; i < at; i++) {
    if (text.charCodeAt(i) !== 0x0a) continue
    line++
    start = i + 1
  }
  return { line, column: at - start + 1 }
}
