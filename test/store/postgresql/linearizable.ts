/**
 * Checks whether a history of one key could have happened one operation at a time, each between its call and its result. Uses the search of
 * Wing and Gong with Lowe's memory of states.
 */

/** Applies an operation to a state. Returns undefined if the state cannot produce the result. */
export type Apply<State, Operation> = (state: State, operation: Operation) => State | undefined

/** An operation with its result. `called` and `answered`: positions in one order of events. */
export interface Timed<Operation> {
  readonly operation: Operation
  readonly called: number
  readonly answered: number
}

/** Compares states as texts. */
export function isLinearizable<State, Operation>(
  history: readonly Timed<Operation>[],
  initial: State,
  apply: Apply<State, Operation>,
): boolean {
  const ordered = history.toSorted((a, b) => a.called - b.called)
  const tried = new Set<string>()
  const paths: { readonly done: ReadonlySet<number>; readonly state: State }[] = [{ done: new Set(), state: initial }]
  for (let path = paths.pop(); path; path = paths.pop()) {
    const { done, state } = path
    if (done.size === ordered.length) return true
    const name = `${nameOf(done)} ${String(state)}`
    if (tried.has(name)) continue
    tried.add(name)
    for (const next of candidates(ordered, done)) {
      const after = apply(state, (ordered[next] as Timed<Operation>).operation)
      if (after !== undefined) paths.push({ done: new Set([...done, next]), state: after })
    }
  }
  return false
}

/** Returns operations that may be next: called before the result of any other open operation. */
function candidates(ordered: readonly Timed<unknown>[], done: ReadonlySet<number>): number[] {
  let firstAnswer = Infinity
  const found: number[] = []
  for (const [i, { called, answered }] of ordered.entries()) {
    if (done.has(i)) continue
    if (called > firstAnswer) break
    found.push(i)
    firstAnswer = Math.min(firstAnswer, answered)
  }
  return found.filter((i) => (ordered[i]?.called ?? 0) < firstAnswer)
}

/** All operations up to a number are done, and a few later ones. */
function nameOf(done: ReadonlySet<number>): string {
  let prefix = 0
  while (done.has(prefix)) prefix++
  return `${prefix}:${[...done].filter((i) => i > prefix).toSorted((a, b) => a - b).join(',')}` // prettier-ignore
}
