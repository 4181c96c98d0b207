/** Background rounds: failed rounds are retried, and no round begins after the end. */
import test from '#test'
import { DueRounds, TimedRounds, WorkLoop } from '#core/work-loop.ts'
import { FakeClock } from '../support/fake-clock.ts'

/** Rounds that fail until `isFailing` is set to false. */
function failing() {
  const clock = new FakeClock()
  const errors: unknown[] = []
  const state = { isFailing: true, rounds: 0 }
  const round = async (): Promise<void> => {
    state.rounds++
    if (state.isFailing) throw new Error('the store did not answer')
  }
  return { clock, errors, state, options: { clock, round, onError: (error: unknown) => void errors.push(error) } }
}

test('WorkLoop: retries a failed round after a minute; otherwise runs only when woken', async (t) => {
  const { clock, errors, state, options } = failing()
  const loop = new WorkLoop(options)
  loop.wake()
  await loop.idle()
  t.deepEqual([state.rounds, errors.length, clock.pending], [1, 1, 1])
  loop.wake() // replaces the retry
  await loop.idle()
  t.deepEqual([state.rounds, errors.length, clock.pending], [2, 2, 1])
  state.isFailing = false
  clock.advance(60_000)
  await loop.idle()
  t.deepEqual([state.rounds, errors.length, clock.pending], [3, 2, 0])
})

test('WorkLoop.stop(): cancels the retry of a failed round', async (t) => {
  const { clock, state, options } = failing()
  const loop = new WorkLoop(options)
  loop.wake()
  await loop.idle()
  await loop.stop()
  t.is(clock.pending, 0)
  clock.advance(60_000)
  await loop.idle()
  t.is(state.rounds, 1)
})

test('DueRounds: retries after a failed read of the next due item', async (t) => {
  const { clock, errors, state, options } = failing()
  let isLookFailing = true
  const nextDueMs = async (): Promise<number> => {
    if (isLookFailing) throw new Error('the store did not answer')
    return Infinity
  }
  const rounds = new DueRounds({ ...options, nextDueMs })
  rounds.wake()
  await rounds.idle()
  t.is(errors.length, 2, 'the error of the round is reported')
  state.isFailing = false
  isLookFailing = false
  clock.advance(60_000)
  await rounds.idle()
  t.deepEqual([state.rounds, errors.length, clock.pending], [2, 2, 0])
})

test('TimedRounds: retries a failed round at its interval', async (t) => {
  const { clock, state, options } = failing()
  const rounds = new TimedRounds({ ...options, everyMs: 3_600_000 })
  rounds.start()
  await rounds.idle()
  clock.advance(60_000)
  await rounds.idle()
  t.is(state.rounds, 1)
  clock.advance(3_600_000)
  await rounds.idle()
  t.is(state.rounds, 2)
  await rounds.stop()
  t.is(clock.pending, 0)
})
