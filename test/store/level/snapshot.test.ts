import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { chainedRows } from '#store/backup/chain.ts'
import type { Bytes, Kv } from '#store/kv.ts'
import { writeRestoredStore } from '#store/level/restored-store.ts'
import type { SnapshotRow } from '#store/engine/snapshot.ts'
import { folderOf, openedBy, storeOf } from './folders.ts'

const key = (i: number): Bytes => Buffer.from(`key ${String(i).padStart(3, '0')}`)
const large = (i: number): Bytes => Buffer.alloc(1000, `value ${i} `)
const set = (kv: Kv, ...numbers: readonly number[]) =>
  kv.write({ checks: [], sets: numbers.map((i) => ({ key: key(i), value: large(i) })), deletes: [], adds: [] })
const remove = (kv: Kv, ...numbers: readonly number[]) => kv.write({ checks: [], sets: [], deletes: numbers.map(key), adds: [] })
const count = (kv: Kv, delta: number) => kv.write({ checks: [], sets: [], deletes: [], adds: [{ key: Buffer.from('counter'), delta }] })
const small = { maxInline: 100, segmentBytes: 10_000 }

async function* later(rows: readonly SnapshotRow[]): AsyncGenerator<SnapshotRow> {
  yield* rows
}

test('snapshot: shows one point in time and keeps its segments', async (t) => {
  const { kv, folder } = await storeOf(t, small)
  for (let i = 0; i < 40; i++) await set(kv, i)
  await count(kv, 7)
  const segments = (await readdir(join(folder, 'values'))).length
  const restored = join(await folderOf(t), 'store')
  {
    await using snapshot = kv.snapshot()
    await remove(kv, ...Array.from({ length: 36 }, (_, i) => i))
    await count(kv, 1)
    t.is(await kv.collect(), 0)
    t.is((await readdir(join(folder, 'values'))).length, segments)
    await writeRestoredStore(restored, snapshot.rows)
  }
  t.true((await kv.collect()) > 0, 'the snapshot is over')
  const again = await openedBy(t, restored, small)
  t.deepEqual(again.missingGroups, [])
  for (let i = 0; i < 40; i++) t.deepEqual(Buffer.from((await again.get(key(i)))?.value ?? []), large(i))
  t.is(await again.counter(Buffer.from('counter')), 7)
  const before = await again.get(key(39))
  t.is(before?.version, (await kv.get(key(39)))?.version, 'the copy has the versions of the original')
  const written = await set(again, 39)
  t.true(written.ok && before !== undefined && written.version > before.version)
})

test('snapshot: a chain contains changes and deletions in between', async (t) => {
  const { kv } = await storeOf(t, small)
  await set(kv, 1, 2, 3)
  await count(kv, 1)
  await using first = kv.snapshot()
  const full = await Array.fromAsync(first.rows)
  await set(kv, 2, 4)
  await remove(kv, 3)
  await count(kv, 1)
  await using second = kv.snapshot(first.version)
  const changed = await Array.fromAsync(second.rows)
  const mine = changed.filter(({ key: [start] }) => start !== 0xff)
  t.deepEqual(
    mine.map((row) => [Buffer.from(row.key).toString(), row.kind]),
    [
      ['counter', 'inline'],
      ['key 001', 'same'],
      ['key 002', 'large'],
      ['key 004', 'large'],
    ],
  )
  const restored = join(await folderOf(t), 'store')
  await writeRestoredStore(restored, chainedRows([later(full), later(changed)]))
  const again = await openedBy(t, restored, small)
  t.deepEqual(again.missingGroups, [])
  t.is(await again.get(key(3)), undefined)
  for (const i of [1, 2, 4]) t.deepEqual(Buffer.from((await again.get(key(i)))?.value ?? []), large(i))
  t.is(await again.counter(Buffer.from('counter')), 2)
  await t.throwsAsync(writeRestoredStore(join(await folderOf(t), 'store'), chainedRows([later(changed)])), { message: /incremental/ })
  const gap = full.filter((row) => Buffer.compare(row.key, key(1)) !== 0)
  await t.throwsAsync(writeRestoredStore(join(await folderOf(t), 'store'), chainedRows([later(gap), later(changed)])), {
    message: /damaged/,
  })
})
