/** Tries that daemons at one database count together: exact under concurrency, in a sliding window. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SharedTries } from '#store/daemons/tries.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { onPostgresql } from './on-server.ts'

const { test, postgresql } = onPostgresql()

const triesOf = ({ daemons }: PostgresKv): SharedTries => {
  if (!daemons.tries) throw new Error('the daemon counts for itself')
  return daemons.tries
}

test('tries: two daemons together permit as many as one', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  await using two = await PostgresKv.open(address, { use: 'together' })
  const window = { windowMs: 3_600_000, most: 7 }
  const all = await Promise.all(
    Array.from({ length: 40 }, (_, at) => triesOf(at % 2 === 0 ? one : two).add('codes of anna', window, false)),
  )
  t.is(all.filter(({ tries }) => tries < 7).length, 7)
  const refused = await triesOf(two).add('codes of anna', window, false)
  t.is(refused.tries, 7)
  t.true(refused.waitMs > 3_500_000 && refused.waitMs <= 3_600_000)
  t.is((await triesOf(one).add('codes of ben', window, false)).tries, 0, 'another name has a separate window')
  await triesOf(one).clear('codes of anna')
  t.deepEqual(await triesOf(two).look('codes of anna', window), { tries: 0, waitMs: 0 })
})

test('tries: counting always keeps the latest, and old tries expire', async (t) => {
  const address = await postgresql().database()
  await using one = await PostgresKv.open(address, { use: 'together' })
  const tries = triesOf(one)
  const window = { windowMs: 400, most: 3 }
  const before: number[] = []
  for (let i = 0; i < 5; i++) before.push((await tries.add('a', { ...window, windowMs: 3_600_000 }, true)).tries)
  t.deepEqual(before, [0, 1, 2, 3, 3])
  await tries.add('b', window, false)
  for (let isOver = false; !isOver;) {
    const { tries: left, waitMs } = await tries.look('b', window)
    t.true(left === 0 ? waitMs === 0 : waitMs <= 400)
    isOver = left === 0
    if (!isOver) await pause(waitMs)
  }
  t.is((await tries.add('b', window, false)).tries, 0)
})
