/** "Did you mean": the known name nearest to one that was mistyped. */

/**
 * The known name that differs only in spelling style (`replyTo` for `reply_to`) or by few edits: one for names up to five
 * letters, two for longer ones. Nothing when no name is that near.
 */
export function nearName(given: string, known: readonly string[]): string | undefined {
  if (given.length > 64) return undefined
  const bare = fold(given)
  const same = known.find((name) => fold(name) === bare)
  if (same !== undefined) return same
  const allowed = given.length > 5 ? 2 : 1
  const near = known.map((name) => ({ name, edits: editDistance(bare, fold(name)) })).sort((a, b) => a.edits - b.edits)[0]
  return near && near.edits <= allowed ? near.name : undefined
}

function fold(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = cell(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? cell(before, j - 2) + 1 : Infinity
      row.push(Math.min(cell(previous, j) + 1, cell(row, j - 1) + 1, replaced, swapped))
    }
    before = previous
    previous = row
  }
  return cell(previous, b.length)
}

function cell(row: readonly number[], at: number): number {
  return row[at] ?? Infinity
}
