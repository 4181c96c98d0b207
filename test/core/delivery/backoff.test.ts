/** Time of retries, and the end of trying. */
import test from '#test'
import { loadConfig } from '#config/settings/load.ts'
import { defaultRetryPolicy, nextAttempt, type RetryPolicy } from '#core/delivery/attempt/backoff.ts'
import { Seeded } from '../../support/seeded.ts'
import { startOfTime as now } from '../../support/fake-clock.ts'

const minute = 60_000
const hour = 60 * minute
const exact: RetryPolicy = { ...defaultRetryPolicy, jitter: 0 }
const after = (attempts: number, unknown = false): number | undefined => {
  const due = nextAttempt(exact, { createdAt: now, attempts, unknown }, now, 0.5)
  return due === undefined ? undefined : due - now
}

test('nextAttempt(): follows the documented schedule', (t) => {
  const expected = [minute, 5 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 4 * hour, 4 * hour, 4 * hour]
  t.deepEqual(
    expected.map((_, i) => after(i + 1)),
    expected,
  )
})

test('nextAttempt(): waits longer after an unknown outcome', (t) => {
  t.deepEqual(
    [1, 2, 3, 4, 5].map((n) => after(n, true)),
    [15 * minute, 15 * minute, 15 * minute, 30 * minute, hour],
  )
})

test('nextAttempt(): never shortens the wait after an unknown outcome', (t) => {
  const random = new Seeded('unknown')
  const dues = Array.from({ length: 1000 }, () => {
    const message = { createdAt: now, attempts: 1, unknown: true }
    return (nextAttempt(defaultRetryPolicy, message, now, random.fraction()) ?? 0) - now
  })
  t.true(Math.min(...dues) >= 15 * minute && Math.max(...dues) <= 18 * minute)
  t.true(Math.max(...dues) > 17.9 * minute)
})

test('defaultRetryPolicy: equals the default configuration', (t) => {
  const { delivery } = loadConfig({ env: {}, readFile: () => '' })
  t.deepEqual(defaultRetryPolicy, {
    delaysMs: delivery.retrySeconds.map((seconds) => seconds * 1000),
    maxAgeMs: delivery.maxAgeHours * hour,
    jitter: delivery.jitter,
    unknownDelayMs: delivery.unknownRetrySeconds * 1000,
  })
})

test('nextAttempt(): varies a delay by at most its jitter', (t) => {
  const random = new Seeded('jitter')
  const dues = Array.from({ length: 1000 }, () => {
    const message = { createdAt: now, attempts: 2, unknown: false }
    return (nextAttempt(defaultRetryPolicy, message, now, random.fraction()) ?? 0) - now
  })
  t.true(Math.min(...dues) >= 4 * minute && Math.max(...dues) <= 6 * minute)
  t.true(Math.min(...dues) < 4.1 * minute && Math.max(...dues) > 5.9 * minute)
  t.true(dues.every(Number.isInteger), 'times of the queue are whole numbers')
})

test('nextAttempt(): gives up beyond the maximum age', (t) => {
  const at = (age: number): number | undefined => nextAttempt(exact, { createdAt: now - age, attempts: 9, unknown: false }, now, 0.5)
  t.is(at(44 * hour), now + 4 * hour)
  t.is(at(44 * hour + 1), undefined)
  t.is(at(-hour), now + 4 * hour, 'a message from the future, after the clock was set back')
})

test('nextAttempt(): makes 18 attempts in 48 hours', (t) => {
  let [time, attempts] = [now, 1]
  for (;;) {
    const due = nextAttempt(exact, { createdAt: now, attempts, unknown: false }, time, 0.5)
    if (due === undefined) break
    time = due
    attempts++
  }
  t.is(attempts, 18)
  t.true(time - now > 44 * hour && time - now <= 48 * hour)
})

test('nextAttempt(): is not earlier than the provider requests, or the policy allows', (t) => {
  const message = { createdAt: now, attempts: 1, unknown: false }
  t.is(nextAttempt(exact, { ...message, notBefore: now + hour }, now, 0.5), now + hour)
  t.is(nextAttempt(exact, { ...message, notBefore: now + 10 }, now, 0.5), now + minute)
  t.is(nextAttempt(exact, { ...message, notBefore: now + exact.maxAgeMs + 1 }, now, 0.5), undefined)
})
