/** Work in steps: long work on the main thread is done in steps of a few milliseconds, in turn with everything else. */
import type { Clock } from './clock.ts'
import { currentCaller, resumeWork } from './fairness/thread-meter.ts'
import { nextTurn } from './fairness/turns.ts'

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
  resumeWork() // whatever was waited for before
  for (let hasBegun = false; ; hasBegun = true) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn(currentCaller(), hasBegun)
    resumeWork()
  }
}

/** Lets others go on, and resolves in a turn of the event loop that is the caller's: for long work whose steps wait by themselves. */
export async function giveWay(): Promise<void> {
  await nextTurn(currentCaller(), true)
  resumeWork()
}

/** A wait to be called between steps: once `workMs` have passed, it lasts `restMs`, so that long work leaves room for mail. */
export function restsBetween(clock: Clock, workMs: number, restMs = workMs): () => Promise<void> | void {
  let began = clock.monotonic()
  return () => {
    if (clock.monotonic() - began < workMs) return
    return new Promise<void>((resolve) => void clock.after(restMs, resolve)).then(() => void (began = clock.monotonic()))
  }
}
