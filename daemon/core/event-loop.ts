/** Work in steps: long work on the main thread is done in steps of a few milliseconds, in turn with everything else. */
import type { Clock } from './clock.ts'
import { currentCaller, resumeWork } from './fairness/thread-meter.ts'

/** Work that stops after every step, and returns its result. */
export type Steps<T> = Generator<void, T, void>

/** Does all steps without a pause: for work that is known to be small. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Does one step in a turn of the event loop, in turn with other callers; work of one step takes no turn at all. Few works of a caller go on
 * at a time, so that a caller with much work holds little memory.
 */
export async function runInSteps<T>(steps: Steps<T>): Promise<T> {
  for (let isUnderWay = false; ; isUnderWay = true) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn(currentCaller(), isUnderWay)
    resumeWork()
  }
}

/** A wait to be called between steps: once `workMs` have passed, it lasts `restMs`, so that long work leaves room for mail. */
export function restsBetween(clock: Clock, workMs: number, restMs = workMs): () => Promise<void> | void {
  let began = clock.monotonic()
  return () => {
    if (clock.monotonic() - began < workMs) return
    return new Promise<void>((resolve) => void clock.after(restMs, resolve)).then(() => void (began = clock.monotonic()))
  }
}

/** Works of a caller that go on in turn; the others wait until one of these has ended. */
const worksAtATime = 4

/** Steps that wait, by caller. Callers take turns, so that a caller with much work delays another by one step at most. */
const waiting = new Map<string, (() => void)[]>()

/** Resolves in a turn of the event loop that is the caller's. `isUnderWay`: for a work that has had one. */
export function nextTurn(caller: string, isUnderWay = false): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (waiting.size === 0) setImmediate(giveTurn)
  const queue = waiting.get(caller) ?? []
  if (queue.length === 0) waiting.set(caller, queue)
  queue.splice(isUnderWay ? worksAtATime - 1 : queue.length, 0, resolve)
  return promise
}

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
