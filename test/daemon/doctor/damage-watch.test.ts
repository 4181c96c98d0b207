/** When the running daemon checks the files of its store, and how it reports damage. */
import test from '#test'
import type { Damage, Rest } from '#store/engine/store-kv.ts'
import { DamageWatch } from '../../../daemon/doctor/damage-watch.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'

const day = 24 * 3600 * 1000

const whole = { damage: [] as readonly Damage[], mended: [] as readonly string[], checkValues: async (): Promise<readonly Damage[]> => [] }

const turn = (): Promise<void> => new Promise(setImmediate)

/** Lets pauses pass without a clock. */
function watched(work: (rest: Rest, checks: number) => Promise<readonly Damage[]>) {
  const clock = new FakeClock(startOfTime, 15)
  const logged: unknown[] = []
  let checks = 0
  const kv = { ...whole, check: (rest: Rest) => work(rest, ++checks) }
  const watch = new DamageWatch(kv, clock, { error: (facts: object) => void logged.push({ ...facts }) } as never)
  return { clock, kv, logged, watch, checks: () => checks }
}

test('damage watch: checks soon after the start, then daily; logs each problem once', async (t) => {
  const [one, two] = ['One is damaged.', 'Two is damaged.'].map((sentence) => ({ sentence, isGone: false })) as [Damage, Damage]
  const { clock, logged, watch, checks } = watched(async (_, count) => (count === 1 ? [one] : [one, two]))
  watch.start()
  clock.advance(4999)
  t.is(checks(), 0)
  clock.advance(1)
  t.is(checks(), 1)
  await turn()
  t.deepEqual(logged, [{ problem: 'One is damaged.' }])
  clock.advance(day)
  await turn()
  t.is(checks(), 2)
  t.deepEqual(logged, [{ problem: 'One is damaged.' }, { problem: 'Two is damaged.' }])
  await watch.stop()
})

test('store check: pauses three quarters of the time and ends with the daemon', async (t) => {
  const { clock, logged, watch } = watched(async (rest) => {
    for (;;) {
      clock.advance(6)
      await rest()
    }
  })
  watch.start()
  clock.advance(5000)
  await turn()
  await watch.stop()
  t.true(clock.delays.length > 0)
  t.deepEqual(new Set(clock.delays), new Set([15]))
  t.deepEqual(logged, [])
})

test('store check: a paused check ends with the daemon', async (t) => {
  const clock = new FakeClock(startOfTime)
  const kv = {
    ...whole,
    async check(rest: Rest): Promise<readonly Damage[]> {
      clock.advance(6)
      await rest()
      return []
    },
  }
  const watch = new DamageWatch(kv, clock, { error: () => t.fail() } as never)
  watch.start()
  clock.advance(5000)
  await watch.stop()
  t.is(clock.pending, 1, 'the pause is not over')
})

test('store check: a failed check is logged, and the next one runs', async (t) => {
  const { clock, logged, watch, checks } = watched(async () => Promise.reject(new Error('EIO')))
  watch.start()
  clock.advance(5000)
  await turn()
  t.is(logged.length, 1)
  clock.advance(day)
  t.is(checks(), 2)
  await watch.stop()
})

test('store check: includes large values and logs corrections of the start', async (t) => {
  const clock = new FakeClock(startOfTime)
  const logged: unknown[] = []
  const kv = { ...whole, mended: ['One bit.'], check: async () => [], checkValues: async () => [{ sentence: 'A value.', isGone: false }] }
  const watch = new DamageWatch(kv, clock, { error: (facts: object) => void logged.push({ ...facts }) } as never)
  watch.start()
  t.deepEqual(logged, [{ problem: 'One bit.' }])
  clock.advance(5000)
  await turn()
  t.deepEqual(logged, [{ problem: 'One bit.' }, { problem: 'A value.' }])
  await watch.stop()
})
