/** Limits of processor time, over a thread whose usage the test sets, and over a real one. */
import { Worker } from 'node:worker_threads'
import test from '#test'
import { systemClock } from '#core/clock.ts'
import { afterProcessorTime, wallFactor, type MeteredThread } from '#ingest/threads/thread-time.ts'
import { waiting } from '../../support/waits.ts'
import { FakeClock } from '../../support/fake-clock.ts'

/** Has used as many milliseconds of processor as the test says. */
class ToldThread implements MeteredThread {
  usedMs = 0
  readonly cpuUsage = async () => ({ user: this.usedMs * 1000, system: 0 })
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a thread that gets a fifth of a busy processor has five times as long on the clock', async (t) => {
  const clock = new FakeClock()
  const thread = new ToldThread()
  thread.usedMs = 700 // for what it did before
  let late = 0
  afterProcessorTime(
    clock,
    () => thread,
    1000,
    () => late++,
  )
  for (let i = 0; i < 49; i++) {
    thread.usedMs += 20
    clock.advance(100)
    await turn()
    t.is(late, 0)
  }
  thread.usedMs += 20
  clock.advance(100)
  await turn()
  t.is(late, 1)
})

test('a thread that uses no processor is late after six times its limit, one that does not answer too', async (t) => {
  for (const thread of [new ToldThread(), { cpuUsage: () => new Promise<never>(() => {}) }, undefined]) {
    const clock = new FakeClock()
    let late = 0
    afterProcessorTime(
      clock,
      () => thread,
      1000,
      () => late++,
    )
    for (let i = 0; i < wallFactor; i++) {
      t.is(late, 0)
      clock.advance(1000)
      await turn()
    }
    t.is(late, 1)
    clock.advance(100_000)
    await turn()
    t.is(late, 1, 'once')
  }
})

test('what is canceled is never late, whatever is being looked at', async (t) => {
  const clock = new FakeClock()
  const thread = new ToldThread()
  let late = 0
  const timer = afterProcessorTime(
    clock,
    () => thread,
    1000,
    () => late++,
  )
  await turn()
  thread.usedMs = 5000
  clock.advance(1000)
  timer.cancel()
  await turn()
  clock.advance(100_000)
  await turn()
  t.is(late, 0)
})

test('a thread that never comes back is late by what it uses, before it has said that it runs', async (t) => {
  const thread = new Worker('for (;;);', { eval: true })
  t.teardown(() => thread.terminate())
  const late = Promise.withResolvers<void>()
  const timed = {
    ...systemClock,
    after: (ms: number, work: () => void) => systemClock.after(ms === 200 * wallFactor ? 3_600_000 : ms, work),
  }
  afterProcessorTime(timed, () => thread, 200, late.resolve)
  await waiting('the thread is late', late.promise)
  const { user, system } = await thread.cpuUsage()
  t.true(user + system >= 200_000)
})
