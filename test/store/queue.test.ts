import test, { type ExecutionContext } from '#test'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import {
  countWaiting,
  dequeue,
  dequeueIfThere,
  enqueue,
  heldDueMs,
  isQueuedFor,
  oldestSince,
  putOff,
  queuedParts,
  queueHead,
  queueLength,
  type QueueEntry,
  type QueuePart,
} from '#store/queue.ts'
import { databaseWith, keysOf } from './kinds.ts'
import { storeOf } from './level/folders.ts'

const databaseOf = async (t: ExecutionContext): Promise<Database> => new Database((await storeOf(t)).kv)
const part = (destinationId: string, projectId = 'prj_1'): QueuePart => ({ destinationId, projectId })
const entry = (destinationId: string, dueMs: number, traceId: string, attempts = 0, projectId = 'prj_1'): QueueEntry => ({
  ...part(destinationId, projectId),
  dueMs,
  traceId,
  organizationId: 'org_1',
  attempts,
})
const put = async (database: Database, ...entries: readonly QueueEntry[]): Promise<unknown> =>
  database.commit(entries.reduce(enqueue, new Change()))

test('queueHead(): returns whole entries of a destination and project by due time', async (t) => {
  const database = await databaseOf(t)
  const early = entry('dst_a', 5, 'late letter')
  const late = entry('dst_a', 1_700_000_000_000, 'early letter', 3)
  await put(
    database,
    late,
    entry('dst_b', 1, 'x'),
    entry('dst_a', 1, 'x', 0, 'prj_11'),
    early,
    entry('dst_aa', 2, 'y'),
    entry('dst', 3, 'z'),
  )
  t.deepEqual(await queueHead(database, part('dst_a'), { limit: 10 }), [early, late])
  t.deepEqual(await queueHead(database, part('dst_a'), { limit: 1 }), [early])
  t.deepEqual(await queueHead(database, part('dst_none'), { limit: 10 }), [])
})

test('queueHead(): starts at a position and ends with the last due entry', async (t) => {
  const database = await databaseOf(t)
  const entries = [entry('d', 10, 'a'), entry('d', 10, 'b'), entry('d', 11, 'a'), entry('d', 12, 'a')]
  await put(database, ...entries)
  t.deepEqual(await queueHead(database, part('d'), { from: { dueMs: 10, traceId: 'b' }, limit: 10 }), entries.slice(1))
  t.deepEqual(await queueHead(database, part('d'), { from: { dueMs: 10, traceId: 'c' }, limit: 10 }), entries.slice(2))
  t.deepEqual(await queueHead(database, part('d'), { untilMs: 11, limit: 10 }), entries.slice(0, 3))
  t.deepEqual(await queueHead(database, part('d'), { untilMs: 9, limit: 10 }), [])
  t.deepEqual(await queueHead(database, part('d'), { from: { dueMs: 11, traceId: 'a' }, untilMs: 11, limit: 10 }), entries.slice(2, 3))
})

test('queueLength(): follows enqueue() and dequeue(); a retry does not change it', async (t) => {
  const database = await databaseOf(t)
  t.is(await queueLength(database), 0)
  const first = entry('d', 10, 'a')
  await put(database, first, entry('d', 10, 'b'), entry('e', 10, 'c'))
  t.is(await queueLength(database), 3)
  await database.commit(enqueue(dequeue(new Change(), first), { ...first, dueMs: 99, attempts: 1 }))
  await database.commit(enqueue(dequeue(new Change(), { ...first, dueMs: 99 }), { ...first, dueMs: 99, attempts: 2 }))
  t.is(await queueLength(database), 3)
  t.like((await queueHead(database, part('d'), { limit: 9 })).at(-1), { traceId: 'a', dueMs: 99, attempts: 2 })
  await database.commit(dequeue(new Change(), { ...first, dueMs: 99 }))
  t.is(await queueLength(database), 2)
  t.is((await keysOf(database)).length, 2)
})

test('oldestSince(): returns the first due time of postponed entries', async (t) => {
  const database = await databaseOf(t)
  const [a, b] = [entry('d', 1000, 'a'), entry('d', 500, 'b')]
  await put(database, a, b, entry('d', 1, 'never postponed'))
  const later = async (before: QueueEntry, next: Partial<QueueEntry>): Promise<QueueEntry> => {
    const change = new Change()
    const made = putOff(change, before, { ...before, ...next })
    t.true((await database.commit(change)).ok)
    return made
  }
  t.is(await oldestSince(database), undefined)
  const first = await later(a, { dueMs: 9000, attempts: 1 })
  t.is(await oldestSince(database), 1000)
  await later(b, { dueMs: 8000, attempts: 1 })
  t.is(await oldestSince(database), 500)
  await database.commit(await dequeueIfThere(database, new Change(), { ...part('d'), dueMs: 8000, traceId: 'b' }))
  t.is(await oldestSince(database), 1000)
  const elsewhere = await later(first, { destinationId: 'e', dueMs: 20_000, attempts: 2 })
  t.is(await oldestSince(database), 1000)
  t.deepEqual(await queueHead(database, part('e'), { limit: 9 }), [elsewhere])
  await database.commit(dequeue(new Change(), elsewhere))
  t.is(await oldestSince(database), undefined)
  t.is((await keysOf(database)).length, 1, 'the entry that was never postponed')
})

test('queuedParts(): finds each destination and project with one short read', async (t) => {
  const { kv } = await storeOf(t)
  const database = new Database(kv)
  const parts = [part('dst_a'), part('dst_a', 'prj_10'), part('dst_a', 'prj_2'), part('dst_a\0'), part('dst_aa'), part('é')]
  for (const { destinationId, projectId } of parts)
    await put(database, ...Array.from({ length: 300 }, (_, i) => entry(destinationId, i, `trace ${i}`, 0, projectId)))
  const limits: (number | undefined)[] = []
  const watched = databaseWith(kv, {
    range(range) {
      limits.push(range.limit)
      return kv.range(range)
    },
  })
  t.deepEqual(await queuedParts(watched), parts)
  t.deepEqual(
    limits,
    Array.from({ length: parts.length + 1 }, () => 1),
  )
  t.deepEqual(await queuedParts(await databaseOf(t)), [])
})

test('isQueuedFor(): returns whether any project has entries for a destination', async (t) => {
  const database = await databaseOf(t)
  await put(database, entry('dst_a', 5, 'x', 0, 'prj_9'), entry('dst_bb', 5, 'x'))
  t.true(await isQueuedFor(database, 'dst_a'))
  t.false(await isQueuedFor(database, 'dst_b'))
})

test('countWaiting(): 1,000 projects need one read, and a bounded number with entries on hold', async (t) => {
  const database = await databaseOf(t)
  const projects = Array.from({ length: 1000 }, (_, n) => `prj_${n}`)
  await put(database, ...projects.map((project) => entry('dst', 5, 'waits', 0, project)), entry('dst_2', 5, 'elsewhere'))
  const { kv } = database
  const range = kv.range.bind(kv)
  let reads = 0
  kv.range = (wanted) => (reads++, range(wanted))
  const counted = async (limits: Parameters<typeof countWaiting>[2]) => {
    reads = 0
    return [await countWaiting(database, 'dst', limits), reads]
  }
  t.deepEqual(await counted({ entries: 2000, reads: 100 }), [1000, 1])
  t.deepEqual(await counted({ entries: 1000, reads: 100 }), [1000, 1])
  t.deepEqual(await counted({ entries: 7, reads: 100 }), [7, 1])
  await put(database, ...projects.map((project) => entry('dst', heldDueMs + 5, 'held', 0, project)))
  t.deepEqual(await counted({ entries: 1000, reads: 100 }), [100, 100])
  t.deepEqual(await counted({ entries: 1000, reads: 2000 }), [1000, 1000])
  t.deepEqual(await countWaiting(database, 'dst_none', { entries: 5, reads: 5 }), 0)
})
