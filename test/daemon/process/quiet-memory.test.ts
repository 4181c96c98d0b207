/** Returning memory to the system in quiet times if it saves enough, and never while the daemon works. */
import { cachedDataVersionTag } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test, { type ExecutionContext } from '#test'
import { ownMemory, QuietMemory, type OwnMemory } from '../../../daemon/process/quiet-memory.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const mib = 1024 ** 2
const lookMs = 5_000

async function setUp(t: ExecutionContext, memory?: OwnMemory) {
  const clock = new FakeClock()
  const part = new QuietMemory(clock, memory)
  await part.start()
  t.teardown(() => part.stop())
  return { clock, part }
}

/** A process with figures that the test sets. */
const processOf = () => {
  const figures = { processorMs: 400, resident: 140 * mib, heap: 40 * mib, left: 110 * mib, collections: 0 }
  const memory: OwnMemory = {
    processorMs: () => figures.processorMs,
    ownBytes: () => figures.resident,
    heapBytes: () => figures.heap,
    collect() {
      figures.collections++
      figures.processorMs += 100
      figures.resident = figures.left
    },
  }
  return { figures, memory }
}

test('quiet memory: returned once, and again after it has grown', async (t) => {
  const { figures, memory } = processOf()
  const { clock, part } = await setUp(t, memory)
  figures.processorMs += 51
  clock.advance(lookMs)
  t.is(figures.collections, 0, 'the daemon was busy')
  figures.processorMs += 50
  clock.advance(lookMs)
  t.is(figures.collections, 1)
  for (let i = 0; i < 10; i++) clock.advance(lookMs)
  figures.resident = 126 * mib - 1
  clock.advance(lookMs)
  t.is(figures.collections, 1)
  figures.resident = 126 * mib
  clock.advance(lookMs)
  t.is(figures.collections, 2, 'quiet memory: the time of the collection does not count')
  figures.resident = 200 * mib
  await part.stop()
  clock.advance(lookMs)
  t.is(figures.collections, 2)
})

test('quiet memory: memory of a long load is returned after its end', async (t) => {
  const { figures, memory } = processOf()
  const { clock } = await setUp(t, memory)
  const lookFor = (ms: number): void => clock.advance(ms)
  figures.left = figures.resident = 276 * mib
  lookFor(lookMs)
  t.is(figures.collections, 1, 'a collection during the load frees no memory')
  figures.left = 70 * mib
  lookFor(1_200_000)
  t.is(figures.collections, 1, 'no work since the last collection')
  figures.processorMs += 5_000
  lookFor(2 * lookMs)
  t.deepEqual([figures.collections, figures.resident], [2, 70 * mib])
  figures.resident = 79 * mib
  for (let i = 0; i < 300; i++) {
    figures.processorMs += i % 2 === 0 ? 0 : 1_000
    lookFor(lookMs)
  }
  t.is(figures.collections, 2, 'the daemon needs this much memory')
  figures.left = 90 * mib
  figures.resident = 100 * mib
  lookFor(lookMs)
  t.is(figures.collections, 3)
  for (let i = 0; i < 260; i++) {
    figures.processorMs += i % 2 === 0 ? 0 : 1_000
    lookFor(lookMs)
  }
  t.is(figures.collections, 5, 'at most one collection in ten minutes')
})

test('quiet memory: a large heap is not collected', async (t) => {
  const { figures, memory } = processOf()
  const { clock } = await setUp(t, memory)
  figures.heap = 96 * mib + 1
  clock.advance(lookMs)
  t.is(figures.collections, 0)
  figures.heap = 96 * mib
  clock.advance(lookMs)
  t.is(figures.collections, 1)
})

/** Figures of this process, but always at rest, regardless of parallel tests. */
const atRest: OwnMemory = { ...ownMemory, processorMs: () => 400, heapBytes: () => 40 * mib }

test('memory: the figure of the process from Linux', (t) => {
  t.true(ownMemory.ownBytes() > 10 * mib)
  if (process.platform === 'linux') t.true(ownMemory.ownBytes() < process.memoryUsage.rss(), 'without mapped files')
})

test('quiet memory: collects unreferenced objects', async (t) => {
  const dead = new WeakRef(new Map([[1, 'dead']]))
  const { clock } = await setUp(t, atRest)
  await new Promise(setImmediate) // a WeakRef holds its target until the end of the job
  clock.advance(lookMs)
  await new Promise(setImmediate)
  t.is(dead.deref(), undefined)
})

test('quiet memory: the collection keeps flags that cached code and threads need', async (t) => {
  const before = cachedDataVersionTag()
  const { clock } = await setUp(t, atRest)
  clock.advance(lookMs)
  t.is(cachedDataVersionTag(), before)
  t.is(runInNewContext('typeof gc'), 'undefined')
})
