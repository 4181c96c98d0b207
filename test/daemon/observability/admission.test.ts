/** Load shedding with a blocked event loop and a simulated disk, and the ballast file. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import test, { type ExecutionContext } from '#test'
import { systemClock, type Clock } from '#core/clock.ts'
import { waitFor } from '../../support/waits.ts'
import { DamagedFolder, StoreInUse } from '#store/kv.ts'
import { Admission, Ballast, freeBytes, type AdmissionLimits } from '../../../daemon/observability/admission/admission.ts'

const limits: AdmissionLimits = { lagMs: 60, windowMs: 200, lowDiskBytes: 1000 }

function setUp(t: ExecutionContext) {
  const world = { now: 0, free: 1e9, behind: false, looks: 0, collections: 0 }
  const clock: Clock = { ...systemClock, monotonic: () => world.now }
  const free = () => {
    world.looks += 1
    return world.free
  }
  const onDiskLow = () => (world.collections += 1)
  const admission = new Admission({ clock, free, storeIsBehind: () => world.behind, onDiskLow }, limits)
  t.teardown(() => admission[Symbol.dispose]())
  return { world, admission }
}

/** Blocks the event loop several times for `ms`, and lets it run in between. */
async function block(ms: number, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const end = performance.now() + ms
    while (performance.now() < end);
    await setImmediate()
  }
}

/** Keeps the event loop free for `ms`, so that it records short lags. */
async function idle(ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end) await setImmediate()
}

const overloaded = { code: 'overloaded', message: 'The service is busy; try again in a few seconds.' }
const full = { code: 'storage_full', message: 'The service has no room for more messages; try again later.' }

test('check(): accepts work without load', (t) => {
  const { admission } = setUp(t)
  t.notThrows(() => admission.check())
})

test.serial('isLagging(): true while the event loop lags; check() still accepts work', async (t) => {
  const { admission, world } = setUp(t)
  await block(200, 5)
  world.now += 250
  t.true(admission.isLagging())
  t.true(admission.isLagging())
  t.notThrows(() => admission.check())
  await waitFor('the end of the lag', async () => {
    await idle(400)
    world.now += 250
    return admission.isLagging() ? undefined : true
  })
})

test.serial('isLagging(): ignores one long pause', async (t) => {
  const answer = await waitFor('a round without long pauses of the machine', async () => {
    const { admission, world } = setUp(t)
    const control = monitorEventLoopDelay({ resolution: 50 })
    control.enable()
    await idle(400)
    await block(300, 1)
    await idle(100)
    control.disable()
    if (control.percentile(50) > 70e6) return undefined
    t.true(control.max > 250e6)
    world.now += 250
    return admission.isLagging() ? 'late' : 'in time'
  })
  t.is(answer, 'in time')
})

test('check(): refuses below the disk limit and recovers by itself', (t) => {
  const { admission, world } = setUp(t)
  world.free = limits.lowDiskBytes - 1
  t.like(
    t.throws(() => admission.check()),
    { ...full, retryAfterSeconds: 60 },
  )
  t.is(world.collections, 1, 'the store is asked to free space')
  t.notThrows(() => admission.check('other'))
  world.free = limits.lowDiskBytes
  world.now += 999
  t.like(
    t.throws(() => admission.check()),
    full,
  )
  world.now += 1
  t.notThrows(() => admission.check())
})

test('check(): reads the free space at most once a second, and only when called', (t) => {
  const { admission, world } = setUp(t)
  t.is(world.looks, 0)
  for (let i = 0; i < 100; i += 1) admission.check()
  t.is(world.looks, 1)
  world.now += 1000
  admission.check()
  t.is(world.looks, 2)
})

test('check() refuses while the store is behind', (t) => {
  const { admission, world } = setUp(t)
  world.behind = true
  t.like(
    t.throws(() => admission.check()),
    overloaded,
  )
  world.behind = false
  t.notThrows(() => admission.check())
})

test('close() ends admission', (t) => {
  const { admission } = setUp(t)
  admission.close()
  t.like(
    t.throws(() => admission.check()),
    {
      code: 'overloaded',
      message: 'The service is about to stop; try again in a moment.',
      retryAfterSeconds: 10,
    },
  )
})

test('freeBytes() tells the free space of a real file system', (t) => {
  t.true(freeBytes(tmpdir()) > 0)
  t.throws(() => freeBytes(join(tmpdir(), 'postern-not-there')), { code: 'ENOENT' })
})

async function ballastIn(t: ExecutionContext, bytes: number, free: () => number) {
  const folder = await mkdtemp(join(tmpdir(), 'postern-ballast-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const path = join(folder, 'ballast')
  const size = () =>
    stat(path).then(
      (found) => found.size,
      () => 0,
    )
  return { ballast: new Ballast(path, bytes, free), path, size }
}

test('ensure(): creates a file that occupies its disk space', async (t) => {
  const { ballast, path, size } = await ballastIn(t, 1_000_001, () => 2_000_000)
  await ballast.ensure(900_000)
  t.is(await size(), 1_000_001)
  t.true((await stat(path)).blocks * 512 >= 1_000_001)
  const { ino, mtimeMs } = await stat(path)
  await ballast.ensure(900_000)
  t.like(await stat(path), { ino, mtimeMs }, 'it is not written again')
})

test('ensure(): creates no file if space is low or the size is 0', async (t) => {
  const tight = await ballastIn(t, 1000, () => 1500)
  await tight.ballast.ensure(501)
  t.is(await tight.size(), 0)
  const unwanted = await ballastIn(t, 0, () => 1e9)
  await unwanted.ballast.ensure(0)
  t.is(await unwanted.size(), 0)
})

test('ensure() completes a file that a crash left short', async (t) => {
  const { ballast, path, size } = await ballastIn(t, 1000, () => 1e6)
  await writeFile(path, 'short')
  await ballast.ensure(0)
  t.is(await size(), 1000)
})

test('openStore(): deletes the ballast on a full disk and tries again', async (t) => {
  const world = { free: 1e6 }
  const { ballast, size } = await ballastIn(t, 1000, () => world.free)
  await ballast.ensure(0)
  world.free = 10
  const open = async () => {
    if ((await size()) > 0) throw new Error('no space')
    return 'store'
  }
  t.is(await ballast.openStore(open), 'store')
  await t.throwsAsync(
    ballast.openStore(() => Promise.reject(new Error('still no space'))),
    { message: 'still no space' },
  )
})

test('openStore(): keeps the ballast if the store is in use or damaged', async (t) => {
  const { ballast, path, size } = await ballastIn(t, 1000, () => 10)
  await writeFile(path, Buffer.alloc(1000))
  for (const error of [new StoreInUse('/data', '/data/LOCK'), new DamagedFolder('/data', ['A file is missing.'])]) {
    await t.throwsAsync(
      ballast.openStore(() => Promise.reject(error)),
      { is: error },
    )
    t.is(await size(), 1000)
  }
})

test('openStore(): keeps the ballast after other errors', async (t) => {
  const { ballast, size } = await ballastIn(t, 1000, () => 1e6)
  await ballast.ensure(0)
  await t.throwsAsync(
    ballast.openStore(() => Promise.reject(new Error('locked'))),
    { message: 'locked' },
  )
  t.is(await size(), 1000)
})
