/** Questions to DNS under deadlines: one for each question and one for all of them. */
import type { Clock } from '#core/clock.ts'
import type { Resolve } from './input.ts'

const questionMs = 5000

/** `left()` is how many milliseconds there are for everything; a question beyond either deadline rejects with `ETIMEOUT`. */
export function boundedDns(resolve: Resolve, clock: Clock, left: () => number): Resolve {
  return (name, type) => {
    const { promise, resolve: answer, reject } = Promise.withResolvers<readonly unknown[]>()
    const late = (): void => reject(Object.assign(new Error(`no answer about ${name}`), { code: 'ETIMEOUT' }))
    const timer = clock.after(Math.max(0, Math.min(questionMs, left())), late)
    resolve(name, type)
      .then(answer, reject)
      .finally(() => timer.cancel())
    return promise
  }
}
