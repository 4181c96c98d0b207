/** The sliding window in memory: order, and eviction of the oldest keys in a flood. */
import test from '#test'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import { RateWindow } from '#core/visitors/rate-window.ts'
import { RecentTries } from '#core/visitors/recent-tries.ts'
import { FakeClock } from '../../support/fake-clock.ts'

test('RecentTries lists the tries of the window, for each key the latest ones', (t) => {
  const clock = new FakeClock()
  const tries = new RecentTries(clock, 1000)
  for (let n = 0; n < 5; n++) {
    tries.add('a', 3)
    clock.advance(100)
  }
  t.is(tries.of('a').length, 3)
  clock.advance(850)
  t.is(tries.of('a').length, 1, 'earlier ones have left the window')
  tries.clear('a')
  t.deepEqual(tries.of('a'), [])
})

test('RecentTries evicts the oldest of 50,000 keys and keeps the latest', (t) => {
  const tries = new RecentTries(new FakeClock(), 1000)
  for (let n = 0; n < 60_000; n++) tries.add(`key ${n}`, 1)
  t.deepEqual(tries.of('key 0'), [])
  t.is(tries.of('key 59999').length, 1)
  t.is(tries.of('key 40000').length, 1)
})

test('RateWindow refuses above the limit with the wait, and counts no refusal', async (t) => {
  const clock = new FakeClock()
  const window = new RateWindow(
    { clock, database: { daemons: new OneDaemon() } },
    { name: 'a', windowMs: 10_000, most: 2, message: 'Wait.' },
  )
  await window.take('a')
  clock.advance(4000)
  await window.take('a')
  const refused = await t.throwsAsync(() => window.take('a'), { message: 'Wait.' })
  t.like(refused, { code: 'rate_limit_exceeded', retryAfterSeconds: 6 })
  await t.notThrowsAsync(() => window.take('b'))
  clock.advance(6000)
  await t.notThrowsAsync(() => window.take('a'))
})
