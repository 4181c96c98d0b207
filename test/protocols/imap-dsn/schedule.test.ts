import test from '#test'
import { delayAfterFailure, delayAfterSuccess, delayAtStart } from '../../../protocols/imap-dsn/poll-schedule.ts'

test('delayAfterSuccess(): interval with 10 % jitter, at least 30 s', (t) => {
  t.deepEqual(
    [0, 0.5, 1].map((random) => delayAfterSuccess(60, random)),
    [54_000, 60_000, 66_000],
  )
  t.is(delayAfterSuccess(30, 0), 30_000)
  t.is(delayAfterSuccess(1, 0.5), 30_000)
})

test('delayAfterFailure(): doubles up to an hour; refused login starts at 5 min', (t) => {
  const delays = (problem: 'connection' | 'login'): number[] =>
    [1, 2, 3, 4, 5, 6, 7, 8, 1000].map((failures) => delayAfterFailure(60, failures, problem, 0.5) / 60_000)
  t.deepEqual(delays('connection'), [1, 2, 4, 8, 16, 32, 60, 60, 60])
  t.deepEqual(delays('login'), [5, 10, 20, 40, 60, 60, 60, 60, 60])
  t.is(delayAfterFailure(7200, 3, 'connection', 0.5), 7_200_000, 'not more often than without a failure')
  t.is(delayAfterFailure(30, 1, 'server', 0), 30_000)
})

test('delayAtStart(): spreads mailboxes over an interval; 0 for a new mailbox', (t) => {
  t.is(delayAtStart(60, true, 0.9), 0)
  t.is(delayAtStart(60, false, 0.5), 30_000)
})
