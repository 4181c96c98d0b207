/**
 * Work in steps. Whoever does long work on the main thread does it in steps of a few milliseconds and lets others have their turn
 * of the event loop in between.
 */

import type { Clock } from './clock.ts'

/** Work that stops after every step, and returns its result. */
export type Steps<T> = Generator<void, T, void>

/** Does all steps without a pause: for work that is known to be small. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Does a step in each turn of the event loop; work of one step takes no turn at all. */
export async function runInSteps<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await new Promise(setImmediate)
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
