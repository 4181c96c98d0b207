/** Main-thread time by caller, with a clock that the test sets. */
import type { ExecutionContext } from 'ava'
import test from '#test'
import { runInSteps } from '#core/event-loop.ts'
import { MeteredKv } from '#core/fairness/metered-kv.ts'
import { processorShare, ThreadMeter } from '#core/fairness/thread-meter.ts'
import type { Kv } from '#store/kv.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function setUp(t: Pick<ExecutionContext, 'teardown'>) {
  const time = { now: 0 }
  const meter = new ThreadMeter(() => time.now)
  t.teardown(() => meter[Symbol.dispose]())
  const work = (caller = 'key_1') => {
    const spent = { caller, ms: 0, spend: (ms: number) => void (spent.ms += ms) }
    return spent
  }
  return { time, meter, work }
}

test('ThreadMeter: charges a work until the next one continues, and waits to no caller', async (t) => {
  const { time, meter, work } = setUp(t)
  const [one, other] = [work(), work()]
  meter.run(one, () => (time.now += 5))
  meter.run(other, () => (time.now += 7))
  await turn()
  time.now += 1000
  meter.run(one, () => (time.now += 2))
  await turn()
  t.deepEqual([one.ms, other.ms], [7, 7])
})

test('resume(): charges time after a wait to the work that waited', async (t) => {
  const { time, meter, work } = setUp(t)
  const [one, other] = [work(), work()]
  const answer = Promise.withResolvers<undefined>()
  const kv = new MeteredKv({ get: () => answer.promise } as unknown as Kv, meter)
  const reading = meter.run(one, async () => {
    time.now += 1
    await kv.get(Buffer.alloc(0))
    time.now += 30
  })
  await turn()
  meter.run(other, () => (time.now += 3))
  await turn()
  time.now += 500
  answer.resolve(undefined)
  await reading
  await turn()
  t.deepEqual([one.ms, other.ms], [31, 3])
})

test('MeteredKv: passes on a range and its end', async (t) => {
  const { meter } = setUp(t)
  let ended = false
  async function* entries() {
    try {
      yield 1
      yield 2
    } finally {
      ended = true
    }
  }
  const kv = new MeteredKv({ range: entries } as unknown as Kv, meter)
  const seen: unknown[] = []
  for await (const entry of kv.range({} as never)) {
    seen.push(entry)
    break
  }
  t.deepEqual([seen, ended], [[1], true])
})

test('runInSteps(): callers take turns, and each step is charged to its work', async (t) => {
  const { time, meter, work } = setUp(t)
  const [tenant, ...crowd] = [work('tenant'), ...Array.from({ length: 5 }, () => work('crowd'))]
  const order: string[] = []
  function* steps({ caller }: { readonly caller: string }, count: number) {
    for (let i = 0; i < count; i++) {
      time.now += 2
      order.push(caller)
      yield
    }
  }
  const run = (each: ReturnType<typeof work>, count: number) => meter.run(each, () => runInSteps(steps(each, count)))
  await Promise.all([...crowd.map((each) => run(each, 4)), tenant && run(tenant, 4)])
  await turn()
  const places = order.flatMap((caller, at) => (caller === 'tenant' ? [at] : []))
  t.deepEqual(places, [5, 7, 9, 11], order.join(' '))
  t.deepEqual([tenant?.ms, ...crowd.map(({ ms }) => ms)], [8, 8, 8, 8, 8, 8])
})

test('runInSteps(): runs four works of a caller at a time, in order of their calls', async (t) => {
  const { meter, work } = setUp(t)
  const caller = work()
  const [ended, open] = [[] as number[], new Set<number>()]
  let most = 0
  function* steps(nth: number) {
    for (let i = 0; i < 20; i++) {
      yield
      open.add(nth)
      most = Math.max(most, open.size)
    }
    open.delete(nth)
    ended.push(nth)
  }
  const all = Array.from({ length: 40 }, (_, nth) => nth)
  await Promise.all(all.map((nth) => meter.run(caller, () => runInSteps(steps(nth)))))
  t.is(most, 4)
  t.deepEqual(ended, all)
})

test('ThreadMeter: charges no caller for time without a processor', (t) => {
  let now = 0
  let share = 1
  const spent: number[] = []
  using meter = new ThreadMeter(
    () => now,
    () => share,
  )
  const work = { caller: 'a', spend: (ms: number) => void spent.push(ms) }
  meter.run(work, () => (now += 10))
  meter.settle()
  share = 0.25
  meter.run(work, () => (now += 20))
  meter.settle()
  t.deepEqual(spent, [10, 5])
  const measured = processorShare()(1e9)
  t.true(measured > 0 && measured <= 1, String(measured))
})
