/** Turns of the event loop: each belongs to one caller, and callers take turns. */

/** Works of a caller that go on in turn; the others wait until one of these has ended. */
const worksAtATime = 4

/** Steps that wait, by caller. Callers take turns, so that a caller with much work delays another by one step at most. */
const waiting = new Map<string, (() => void)[]>()

/** Resolves in a turn of the event loop that is the caller's. `hasBegun`: for a work that has had one. */
export function nextTurn(caller: string, hasBegun = false): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.size === 0) setImmediate(giveTurn)
  const queue = waiting.get(caller) ?? []
  if (queue.length === 0) waiting.set(caller, queue)
  queue.splice(hasBegun ? worksAtATime - 1 : queue.length, 0, resolve)
  return promise
}

/** Whether a caller waits for its turn. */
export const isTurnWaited = (): boolean => waiting.size > 0

function giveTurn(): void {
  const [first] = waiting
  if (!first) return
  const [caller, queue] = first
  waiting.delete(caller)
  const resolve = queue.shift()
  if (queue.length > 0) waiting.set(caller, queue)
  if (waiting.size > 0) setImmediate(giveTurn)
  resolve?.()
}
