/** Finds what someone probably meant: the nearest known name by edit distance. */

const farthest = 3

/**
 * The known name that the fewest insertions, deletions and replacements of a letter turn `name` into; undefined when
 * it takes more than three, or more than one for every three letters.
 */
export function closest(name: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, steps: editDistance(name, candidate) }))
  const best = ranked.reduce((a, b) => (b.steps < a.steps ? b : a), { candidate: '', steps: Infinity })
  return best.steps <= Math.min(farthest, name.length / 3) ? best.candidate : undefined
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > farthest) return farthest + 1
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = row[j]! + (letter.toLowerCase() === other.toLowerCase() ? 0 : 1)
      next.push(Math.min(replaced, row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row.at(-1)!
}
