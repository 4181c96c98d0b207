/** Circuit breaker as a state machine: opening, pause and closing. */
import test from '#test'
import { afterFault, afterSuccess, endPause, newBreaker, phaseOf, type Breaker } from '#core/delivery/health/breaker.ts'

const start = Date.UTC(2030, 0, 1)
const second = 1000
const because = (message: string) => ({ code: 'connection_lost', message })

const faults = (count: number, breaker: Breaker = newBreaker, now = start): Breaker =>
  Array.from({ length: count }).reduce<Breaker>((state) => afterFault(state, because('Refused.'), now, 0.5), breaker)

test('breaker: five consecutive faults open it, with since, reason and until', (t) => {
  t.is(phaseOf(faults(4), start), 'closed')
  const open = faults(5)
  t.is(phaseOf(open, start), 'open')
  t.like(open, { since: start, until: start + 30 * second, reason: '5 consecutive attempts failed; the last one: Refused.' })
  t.deepEqual(open.cause, { code: 'faults_in_row', failed: 5, attempts: 5, error: because('Refused.') })
})

test('breaker: a success resets the count of faults', (t) => {
  const breaker = faults(4, afterSuccess(faults(4), start))
  t.is(phaseOf(breaker, start), 'closed')
})

test('breaker: opens at half of twenty attempts within a minute, not longer', (t) => {
  const alternate = (everyMs: number): Breaker => {
    let breaker = newBreaker
    for (let n = 0; n < 20; n++) {
      const now = start + n * everyMs
      breaker = n % 2 === 0 ? afterSuccess(breaker, now) : afterFault(breaker, because('Lost.'), now, 0.5)
    }
    return breaker
  }
  t.is(phaseOf(alternate(second), start + 20 * second), 'open')
  t.is(alternate(second).reason, '10 of 20 attempts within a minute failed; the last one: Lost.')
  t.is(phaseOf(alternate(10 * second), start + 200 * second), 'closed')
})

test('breaker: ignores attempts that end while it is open', (t) => {
  const open = faults(5)
  t.is(afterSuccess(open, start + second), open)
  t.is(afterFault(open, because('Late.'), start + second, 0.5), open)
})

test('breaker: a failed trial doubles the pause; a successful one closes it', (t) => {
  let breaker = faults(5)
  const pauses: number[] = []
  for (let n = 0; n < 7; n++) {
    const now = breaker.until
    t.is(phaseOf(breaker, now), 'half_open')
    breaker = afterFault(breaker, because('Refused.'), now, 0.5)
    pauses.push((breaker.until - now) / second)
  }
  t.deepEqual(pauses, [60, 120, 240, 480, 900, 900, 900])
  t.is(breaker.since, start, 'open since the first opening')
  const closed = afterSuccess(breaker, breaker.until)
  t.is(phaseOf(closed, breaker.until), 'closed')
  t.like(faults(5, closed, breaker.until), { openings: 1 }, 'the pauses start small again')
})

test('breaker: pauses vary by a fifth in either direction', (t) => {
  const four = faults(4)
  t.is(afterFault(four, because(''), start, 0).until - start, 24 * second)
  t.is(afterFault(four, because(''), start, 0.999_999).until - start, 36 * second)
})

test('breaker: endPause() ends the pause of an open breaker only', (t) => {
  t.is(phaseOf(endPause(faults(5), start + second), start + second), 'half_open')
  t.is(endPause(newBreaker, start), newBreaker)
})

test('breaker: a clock set back does not preserve old counts', (t) => {
  const before = afterSuccess(newBreaker, start)
  t.like(afterSuccess(before, start - 3600 * second), { countedFrom: start - 3600 * second, attempts: 1 })
})
