/** Rows and large values of a group are written at the same time: the view of readers, and the state after a crash in between. */
import { open, readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from '#test'
import { digestRows } from '#store/engine/row-digest.ts'
import { StoreDamaged, type Bytes, type Kv } from '#store/kv.ts'
import type { LevelKv } from '#store/level/level-kv.ts'
import { tornGroupIn } from '#store/level/torn-group.ts'
import { Seeded } from '../../support/seeded.ts'
import { crashCopy, openedBy, storeOf } from './folders.ts'

const options = { maxInline: 2000 }
const key = (name: string): Bytes => Buffer.from(name)
const count = key('count')
const everything = { start: Buffer.of(0), end: Buffer.of(0xff) }

/** One write with rows, a deletion, a counter and values of these sizes. */
const writeGroup = (kv: Kv, name: string, sizes: readonly number[]) =>
  kv.write({
    checks: [],
    sets: [
      { key: key(`${name} small`), value: Buffer.from(name) },
      { key: key('replaced'), value: Buffer.from(name) },
      ...sizes.map((size, i) => ({ key: key(`${name} ${i}`), value: Buffer.alloc(size, `${name} ${i} `) })),
    ],
    deletes: [key(`before ${name}`)],
    adds: [{ key: count, delta: 1 }],
  })

const valuesIn = async (folder: string): Promise<string> => {
  const newest = (await readdir(join(folder, 'values'))).toSorted().at(-1)
  return join(folder, 'values', newest ?? 'none')
}

async function overwrite(path: string, at: number, octets: Buffer): Promise<void> {
  await using file = await open(path, 'r+')
  await file.write(octets, 0, octets.length, at)
}

/** All rows with their values, and the counter. */
async function contentOf(kv: LevelKv): Promise<string> {
  await using snapshot = kv.snapshot()
  return `${(await digestRows(snapshot.rows)).digest} ${await kv.counter(count)}`
}

/** A store whose process ended after its last group, with its values before and after that group. */
async function crashed(t: ExecutionContext, sizes: readonly number[]) {
  const { kv, folder } = await storeOf(t, options)
  await kv.write({ checks: [], sets: [{ key: key('before last'), value: key('x') }], deletes: [], adds: [] })
  await writeGroup(kv, 'first', [3000])
  const path = await valuesIn(folder)
  const [before, from] = [await contentOf(kv), (await stat(path)).size]
  await writeGroup(kv, 'last', sizes)
  return { folder, before, after: await contentOf(kv), from, upTo: (await stat(path)).size }
}

for (const sizes of [[5000], [100_000, 2001], [300_000, 256 * 1024, 4096]]) {
  test(`torn group: a start drops the last group if its values of ${sizes.join(', ')} octets are incomplete`, async (t) => {
    const { folder, before, after, from, upTo } = await crashed(t, sizes)
    const seeded = new Seeded(`torn ${sizes.join(' ')}`)
    const leavesOut = async (why: string, tear: (path: string) => Promise<void>): Promise<void> => {
      const copy = await crashCopy(t, folder)
      await tear(await valuesIn(copy))
      const again = await openedBy(t, copy, options)
      t.is(await contentOf(again), before, why)
      t.deepEqual([again.missingGroups, again.mended, again.damage], [[], [], []], why)
      await writeGroup(again, 'next', [7000])
      const next = await contentOf(again)
      await again[Symbol.asyncDispose]()
      t.is(await contentOf(await openedBy(t, copy, options)), next, `${why}, and later groups remain`)
    }
    for (const cut of [from, upTo - 1, ...Array.from({ length: 4 }, () => seeded.between(from + 1, upTo - 1))])
      await leavesOut(`cut at ${cut} of ${from} to ${upTo}`, (path) => truncate(path, cut))
    for (const sector of Array.from({ length: 4 }, () => seeded.between(Math.ceil(from / 512), Math.floor(upTo / 512) - 1)))
      await leavesOut(`sector ${sector} is zeros`, (path) => overwrite(path, sector * 512, Buffer.alloc(512)))
    t.is(await contentOf(await openedBy(t, await crashCopy(t, folder), options)), after, 'a complete group remains')
  })
}

test('torn group: a damaged value of the last group is reported and kept', async (t) => {
  const { folder, upTo } = await crashed(t, [5000])
  const copy = await crashCopy(t, folder)
  await overwrite(await valuesIn(copy), upTo - 1000, Buffer.of(0xff))
  const again = await openedBy(t, copy, options)
  await t.throwsAsync(again.get(key('last 0')), { instanceOf: StoreDamaged })
  t.is(Buffer.from((await again.get(key('last small')))?.value ?? []).toString(), 'last')
  t.is(await again.counter(count), 2)
})

test('torn group: a torn value of an earlier, acknowledged group is damage', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await writeGroup(kv, 'first', [5000])
  const path = await valuesIn(folder)
  const { size } = await stat(path)
  await writeGroup(kv, 'last', [])
  const copy = await crashCopy(t, folder)
  await truncate(await valuesIn(copy), size - 1)
  t.is(await tornGroupIn(copy), undefined)
  const again = await openedBy(t, copy, options)
  await t.throwsAsync(again.get(key('first 0')), { instanceOf: StoreDamaged })
  t.is(Buffer.from((await again.get(key('last small')))?.value ?? []).toString(), 'last')
})

test('torn group: damage in a closed store is not taken for a torn group', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await writeGroup(kv, 'last', [5000])
  await kv[Symbol.asyncDispose]()
  await truncate(await valuesIn(folder), 100)
  t.is(await tornGroupIn(folder), undefined)
  await t.throwsAsync((await openedBy(t, folder, options)).get(key('last 0')), { instanceOf: StoreDamaged })
})

/** A value whose write takes several system calls, so that the rows of its group reach the disk earlier. */
const slowValue = Array.from({ length: 20_000 }, () => Buffer.alloc(200, 'slow'))
const writeSlowly = (kv: Kv, name: string) =>
  kv.write({
    checks: [],
    sets: [
      { key: key(`${name} small`), value: Buffer.from(name) },
      { key: key('replaced'), value: Buffer.from(name) },
      { key: key(`${name} 0`), value: slowValue },
    ],
    deletes: [],
    adds: [{ key: count, delta: 1 }],
  })

test('torn group: readers see a group completely or not at all', async (t) => {
  const { kv } = await storeOf(t, options)
  await writeGroup(kv, '0', [5000])
  let seen = 0
  for (let group = 1; group <= 10; group++) {
    const name = String(group)
    let isDone = false
    const writing = writeSlowly(kv, name).then(() => (isDone = true))
    while (!isDone) {
      const [small, large] = await kv.getMany([key(`${name} small`), key(`${name} 0`)])
      const replaced = Buffer.from((await kv.get(key('replaced')))?.value ?? []).toString()
      const rows = await Array.fromAsync(kv.range({ ...everything, keysOnly: true }))
      const counted = await kv.counter(count)
      if (isDone) break
      seen++
      t.deepEqual([small, large, replaced, rows.length, counted], [undefined, undefined, String(group - 1), 2 * group + 1, group])
    }
    await writing
    t.is((await kv.get(key(`${name} 0`)))?.value.length, 4_000_000)
  }
  t.true(seen > 0)
})

test('torn group: a snapshot during a write has the state before the group', async (t) => {
  const { kv } = await storeOf(t, options)
  await writeGroup(kv, '0', [5000])
  const before = await contentOf(kv)
  const writing = writeSlowly(kv, '1')
  while (kv.waitingWrites > 0) await new Promise(setImmediate)
  await using snapshot = kv.snapshot()
  await writing
  t.is(`${(await digestRows(snapshot.rows)).digest} 1`, before)
})

test('torn group: a compaction loses no group written during it', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await writeGroup(kv, '0', [100_000])
  const compacting = kv.compact(everything.start, everything.end)
  await Promise.all(Array.from({ length: 20 }, (_, i) => writeGroup(kv, String(i + 1), [5000 * (i + 1)])))
  await compacting
  const content = await contentOf(kv)
  t.is(await contentOf(await openedBy(t, await crashCopy(t, folder), options)), content)
})
