/**
 * Waiting that ends: for an event, and, where the other side has no event to offer, for a condition. A deadline is there to say what
 * hangs, not to measure: it is written for a quiet machine, and `patience` times as long is waited, so that a slow one fails no test.
 */
import { setTimeout as pause } from 'node:timers/promises'

/** How much slower than the machine the deadlines were written on another may be. */
export const patience = 10

/** The promise's value, or an error that says what did not happen within `milliseconds`, times `patience`. */
export async function within<T>(milliseconds: number, what: string, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`not within ${String(milliseconds * patience)} ms: ${what}`)),
    milliseconds * patience,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Asks again and again until the answer is not undefined. Only for states of a process that announces them nowhere,
 * such as the status of a trace.
 */
export async function eventually<T>(milliseconds: number, what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + milliseconds * patience
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > end) throw new Error(`not within ${String(milliseconds * patience)} ms: ${what}`)
    await pause(50)
  }
}
