/** Line difference of two texts, based on the longest common subsequence. Folds long unchanged runs. */

export type DiffLine =
  | { readonly kind: 'same' | 'added' | 'gone'; readonly text: string }
  /** Number of omitted unchanged lines. */
  | { readonly kind: 'fold'; readonly count: number }

/** Maximum number of table cells. Longer texts appear as completely replaced. */
const maxCells = 1_000_000
/** Number of unchanged lines around a change. */
const around = 3

export function diffOf(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return folded([...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)])
}

const same = (text: string): DiffLine => ({ kind: 'same', text })
const gone = (text: string): DiffLine => ({ kind: 'gone', text })
const added = (text: string): DiffLine => ({ kind: 'added', text })

function between(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1
  if (a.length * width > maxCells) return [...a.map(gone), ...b.map(added)]
  // common[i * width + j] is the maximum number of common lines of a from i and b from j
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push(same(a[i] ?? ''))
      i++
      j++
    } else if ((common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)) lines.push(gone(a[i++] ?? ''))
    else lines.push(added(b[j++] ?? ''))
  }
  return [...lines, ...a.slice(i).map(gone), ...b.slice(j).map(added)]
}

function folded(lines: readonly DiffLine[]): readonly DiffLine[] {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries()) if (kind !== 'same') for (let by = -around; by <= around; by++) near.add(at + by)
  const shown: DiffLine[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(at)) shown.push(line)
    else if (last?.kind === 'fold') shown[shown.length - 1] = { kind: 'fold', count: last.count + 1 }
    else shown.push({ kind: 'fold', count: 1 })
  }
  return shown
}
