/** `verify` of a store in use leaves room for mail. */
import test from '#test'
import type { Entry, Range } from '#store/kv.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { verifyGently } from '../../../daemon/observability/verify-gently.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'

/** As long as it works at a time. */
const workMs = 10

test('rows of a store in use are read with rests as long as the work between them', async (t) => {
  const { rest, database } = await startDaemon(t)
  await rest.must('POST', '/v1/messages', { from: 'a@example.com', to: 'b@example.org', subject: 'Hello', text: 'x' })
  const { kv } = database
  const rests: number[] = []
  /** Each row takes the processor for longer than it may be worked without a rest. */
  async function* slow(range: Range): AsyncGenerator<Entry> {
    for (const entry of await Array.fromAsync(kv.range(range))) {
      const until = performance.now() + workMs + 1
      while (performance.now() < until);
      const given = performance.now()
      yield entry
      rests.push(performance.now() - given)
    }
  }
  const slowKv = Object.assign(Object.create(kv) as StoreKv, {
    get: kv.get.bind(kv),
    getMany: kv.getMany.bind(kv),
    counter: kv.counter.bind(kv),
    range: slow,
    missingGroups: [],
  })
  t.deepEqual((await verifyGently(slowKv)).problems, [])
  t.true(rests.length > 3)
  t.deepEqual(
    rests.filter((ms) => ms < workMs - 1),
    [],
  )
})
