/** Splits long work on the main thread into steps of a few milliseconds, which alternate with other work. */
import type { Clock } from './clock.ts'
import { currentCaller, resumeWork } from './fairness/thread-meter.ts'
import { nextTurn } from './fairness/turns.ts'

/** Work that yields after every step and returns its result. */
export type Steps<T> = Generator<void, T, void>

/** Runs all steps without a pause, for work that is always short. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/**
 * Runs each step in a separate turn of the event loop, alternating with other callers. Work with one step needs no turn. Only a few works
 * of a caller run concurrently, so that a busy caller holds little memory.
 */
export async function runInSteps<T>(steps: Steps<T>): Promise<T> {
  resumeWork() // after any earlier wait
  for (let hasBegun = false; ; hasBegun = true) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn(currentCaller(), hasBegun)
    resumeWork()
  }
}

/** Lets other work run, and resolves in a turn of the caller: for long work whose steps wait themselves. */
export async function giveWay(): Promise<void> {
  await nextTurn(currentCaller(), true)
  resumeWork()
}

/** Returns a function to await between steps. After `workMs` of work it waits for `restMs`, so that long work leaves time for mail. */
export function restsBetween(clock: Clock, workMs: number, restMs = workMs): () => Promise<void> | void {
  let began = clock.monotonic()
  return () => {
    if (clock.monotonic() - began < workMs) return
    return new Promise<void>((resolve) => void clock.after(restMs, resolve)).then(() => void (began = clock.monotonic()))
  }
}
