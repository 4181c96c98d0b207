/** DNS queries with two deadlines: one for each query and one for all of them. */
import type { Clock } from '#core/clock.ts'
import type { Resolve } from './resolve.ts'

const questionMs = 5000

/** Limits a resolver. `left()` returns the milliseconds left for all queries. A query past either deadline rejects with `ETIMEOUT`. */
export function boundedDns(resolve: Resolve, clock: Clock, left: () => number): Resolve {
  return async (name, type) => {
    const late = (): Error => Object.assign(new Error(`no answer about ${name}`), { code: 'ETIMEOUT' })
    const ms = Math.min(questionMs, left())
    if (ms <= 0) throw late()
    const { promise, resolve: answer, reject } = Promise.withResolvers<readonly unknown[]>()
    const timer = clock.after(ms, () => reject(late()))
    resolve(name, type)
      .then(answer, reject)
      .finally(() => timer.cancel())
    return promise
  }
}
