/** Turns of the event loop, shared fairly between callers. */

/** Works of a caller that run concurrently; others wait until one has ended. */
const worksAtATime = 4

/** Waiting steps by caller. Callers alternate, so that a busy caller delays another by at most one step. */
const waiting = new Map<string, (() => void)[]>()

/** Resolves in the caller's next turn of the event loop. `hasBegun`: the work has had a turn before. */
export function nextTurn(caller: string, hasBegun = false): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.size === 0) setImmediate(giveTurn)
  const queue = waiting.get(caller) ?? []
  if (queue.length === 0) waiting.set(caller, queue)
  queue.splice(hasBegun ? worksAtATime - 1 : queue.length, 0, resolve)
  return promise
}

/** Returns true if a caller waits for its turn. */
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
