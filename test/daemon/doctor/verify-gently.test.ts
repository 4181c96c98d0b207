/** `verify` leaves processor time for mail while the store is in use. */
import test from '#test'
import type { Entry, Range } from '#store/kv.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { verifyGently } from '../../../daemon/doctor/verify-gently.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'

/** Duration of work between two pauses. */
const workMs = 10

test('verify: pauses as long as it works while the store is in use', async (t) => {
  const { rest, database } = await startDaemon(t)
  await rest.must('POST', '/v1/messages', { from: 'a@example.com', to: 'b@example.org', subject: 'Hello', text: 'x' })
  const { kv } = database
  const clock = new FakeClock(startOfTime, workMs)
  let rows = 0
  /** Yields rows that each take longer than the work between two pauses. */
  async function* slow(range: Range): AsyncGenerator<Entry> {
    for await (const entry of kv.range(range)) {
      clock.advance(workMs + 1)
      rows++
      yield entry
    }
  }
  const slowKv = Object.assign(Object.create(kv) as StoreKv, {
    get: kv.get.bind(kv),
    getMany: kv.getMany.bind(kv),
    counter: kv.counter.bind(kv),
    range: slow,
    missingGroups: [],
    check: async () => [],
  })
  t.deepEqual((await verifyGently(slowKv, clock)).problems, [])
  t.true(rows > 3)
  t.deepEqual(
    clock.delays,
    Array.from({ length: rows }, () => workMs),
  )
})
