/** Number of typing mistakes between two texts. Pure. */

/**
 * Returns the smallest number of insertions, deletions, changes and swaps of neighbors between the texts; undefined above `max`. Computes
 * only a band around the diagonal, so the time is linear in the lengths of the texts.
 */
export function editDistance(a: string, b: string, max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max) return undefined
  const far = max + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, far))
  for (let i = 1; i <= a.length; i++) {
    const row = Array.from({ length: b.length + 1 }, () => far)
    if (i <= max) row[0] = i
    let best = row[0] ?? far
    for (let j = Math.max(1, i - max); j <= Math.min(b.length, i + max); j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const ways = [
        (last[j] ?? far) + 1,
        (row[j - 1] ?? far) + 1,
        (last[j - 1] ?? far) + (isSame ? 0 : 1),
        ...(isSwap ? [(before[j - 2] ?? far) + 1] : []),
      ]
      row[j] = Math.min(far, ...ways)
      best = Math.min(best, row[j] ?? far)
    }
    if (best > max && (i < 2 || Math.min(...last) > max)) return undefined
    before = last
    last = row
  }
  const distance = last[b.length] ?? far
  return distance <= max ? distance : undefined
}
