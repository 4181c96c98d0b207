/** Limits of processor time, for a thread with simulated usage and for a real one. */
import { Worker } from 'node:worker_threads'
import test from '#test'
import { systemClock } from '#core/clock.ts'
import { afterProcessorTime, wallFactor, type MeteredThread } from '#ingest/threads/thread-time.ts'
import { waiting } from '../../support/waits.ts'
import { FakeClock } from '../../support/fake-clock.ts'

/** Reports the processor time in milliseconds that the test sets. */
class ToldThread implements MeteredThread {
  usedMs = 0
  readonly cpuUsage = async () => ({ user: this.usedMs * 1000, system: 0 })
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('afterProcessorTime(): a thread with 20 % of a processor gets five times as long', async (t) => {
  const clock = new FakeClock()
  const thread = new ToldThread()
  thread.usedMs = 700 // used before the call
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

test('afterProcessorTime(): an idle or silent thread is late after six times its limit', async (t) => {
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

test('afterProcessorTime(): never calls late after cancel(), even while measuring', async (t) => {
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

test('afterProcessorTime(): a busy loop is late by its usage during its start', async (t) => {
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
