import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import type { Bytes, Kv, Write } from '#store/kv.ts'
import { seal, sealPointer } from '#store/engine/codec.ts'
import { collectSegments } from '#store/level/collect.ts'
import { ValueLog } from '#store/level/value-log.ts'
import { folderOf, openedBy, storeOf } from './folders.ts'

const key = (i: number): Bytes => Buffer.from(`key ${String(i).padStart(3, '0')}`)
const value = (i: number): Bytes => Buffer.alloc(1000, `value ${i} `)
const set = (kv: Kv, ...numbers: readonly number[]) =>
  kv.write({ checks: [], sets: numbers.map((i) => ({ key: key(i), value: value(i) })), deletes: [], adds: [] })
const remove = (kv: Kv, ...numbers: readonly number[]) => kv.write({ checks: [], sets: [], deletes: numbers.map(key), adds: [] })
const small = { maxInline: 100, segmentBytes: 10_000 }
const segmentsOf = (folder: string): Promise<string[]> => readdir(join(folder, 'values'))

test('LevelKv.collect(): drops dead segments and keeps mostly live ones', async (t) => {
  const { kv, folder } = await storeOf(t, small)
  for (let i = 0; i < 40; i++) await set(kv, i)
  t.is((await segmentsOf(folder)).length, 4)
  t.is(await kv.collect(), 0)
  await remove(kv, ...Array.from({ length: 10 }, (_, i) => i), 10, 11)
  t.is(await kv.collect(), 1, 'the second segment is still mostly alive')
  t.is((await segmentsOf(folder)).length, 3)
  for (let i = 12; i < 40; i++) t.deepEqual(Buffer.from((await kv.get(key(i)))?.value ?? []), value(i))
})

test('LevelKv.collect(): moves live values with new versions, also after reopening', async (t) => {
  const { kv, folder } = await storeOf(t, small)
  for (let i = 0; i < 30; i++) await set(kv, i)
  await remove(kv, 0, 1, 2, 3, 5, 6, 7, 8, 9)
  const before = await kv.get(key(4))
  t.is(await kv.collect(), 1)
  const after = await kv.get(key(4))
  t.deepEqual(after?.value, before?.value)
  t.not(after?.version, before?.version)
  await kv[Symbol.asyncDispose]()
  const again = await openedBy(t, folder, small)
  t.deepEqual(Buffer.from((await again.get(key(4)))?.value ?? []), value(4))
  await remove(again, ...Array.from({ length: 30 }, (_, i) => i))
  t.true((await again.collect()) >= 3)
  t.deepEqual(await segmentsOf(folder), [])
})

test('LevelKv.collect() counts overwritten values as dead', async (t) => {
  const { kv, folder } = await storeOf(t, small)
  for (let round = 0; round < 4; round++) for (let i = 0; i < 10; i++) await set(kv, i)
  t.is(await kv.collect(), 3)
  t.is((await segmentsOf(folder)).length, 1)
  for (let i = 0; i < 10; i++) t.deepEqual(Buffer.from((await kv.get(key(i)))?.value ?? []), value(i))
})

test('LevelKv.collect(): readers see whole values, or none after a deletion', async (t) => {
  const { kv } = await storeOf(t, small)
  for (let i = 0; i < 200; i++) await set(kv, i)
  const deleted = (i: number): boolean => i % 5 !== 0
  let reading = true
  let reads = 0
  const read = async (from: number): Promise<void> => {
    for (let i = from; reading; i = (i + 7) % 200) {
      const entry = await kv.get(key(i))
      if (entry) t.is(Buffer.compare(entry.value, value(i)), 0)
      else if (!deleted(i)) t.fail(`key ${i} is gone`)
      // a read from memory takes no turn of the event loop, which the collector needs
      if (++reads % 5 === 0) await new Promise(setImmediate)
    }
  }
  const walk = async (): Promise<void> => {
    while (reading) {
      let lasting = 0
      for await (const entry of kv.range({ start: key(0), end: key(999) })) {
        const i = Number(Buffer.from(entry.key.subarray(4)).toString())
        if (Buffer.compare(entry.value, value(i)) !== 0) t.fail(`key ${i} is damaged`)
        if (!deleted(i)) lasting++
      }
      t.is(lasting, 40)
    }
  }
  const readers = [read(0), read(50), read(150), walk()]
  let dropped = 0
  for (let i = 0; i < 200; i += 20) {
    await remove(kv, ...Array.from({ length: 20 }, (_, k) => i + k).filter(deleted))
    dropped += await kv.collect()
  }
  reading = false
  await Promise.all(readers)
  t.true(dropped >= 15, `${dropped} dropped`)
  t.true(reads > 100)
})

test('LevelKv.collect(): writes of the same keys take precedence', async (t) => {
  const { kv } = await storeOf(t, small)
  for (let i = 0; i < 20; i++) await set(kv, i)
  await remove(kv, 0, 1, 2, 3, 4, 5, 6, 7)
  const collecting = kv.collect()
  const newest = Buffer.alloc(2000, 'newest')
  await kv.write({ checks: [], sets: [{ key: key(8), value: newest }], deletes: [key(9)], adds: [] })
  await collecting
  t.deepEqual(Buffer.from((await kv.get(key(8)))?.value ?? []), newest)
  t.is(await kv.get(key(9)), undefined)
})

/** Lengths, a checksum and the key precede each value. */
const headOctets = 12 + key(0).length

test('LevelKv.collect() loses no value when the entries of a segment are damaged', async (t) => {
  let dropped = 0
  for (let octet = 0; octet < headOctets; octet++) {
    const { kv, folder } = await storeOf(t, small)
    for (let i = 0; i < 20; i++) await set(kv, i)
    await remove(kv, 0, 1, 2, 4, 5, 6, 7, 8)
    const entryAt = 3 * (headOctets + value(3).length)
    const file = await open(join(folder, 'values', String((await segmentsOf(folder)).toSorted()[0])), 'r+')
    const { buffer } = await file.read(Buffer.alloc(1), { position: entryAt + octet })
    await file.write(Buffer.of((buffer[0] ?? 0) ^ 1), 0, 1, entryAt + octet)
    await file.close()
    dropped += await kv.collect()
    for (const i of [3, 9]) t.deepEqual(Buffer.from((await kv.get(key(i)))?.value ?? []), value(i), `ledger: octet ${octet}, value ${i}`)
    await kv[Symbol.asyncDispose]()
  }
  t.true(dropped > headOctets / 2, `${dropped} segments were dropped`)
})

test('LevelKv.collect(): keeps only a segment with a damaged live value', async (t) => {
  const { kv, folder } = await storeOf(t, small)
  for (let i = 0; i < 30; i++) await set(kv, i)
  await remove(kv, ...Array.from({ length: 9 }, (_, i) => i), ...Array.from({ length: 10 }, (_, i) => 10 + i))
  const [first] = (await segmentsOf(folder)).toSorted()
  const file = await open(join(folder, 'values', String(first)), 'r+')
  await file.write(Buffer.of(0), 0, 1, 9 * (headOctets + value(9).length) + headOctets + 5)
  await file.close()
  t.is(await kv.collect(), 1)
  t.true((await segmentsOf(folder)).includes(String(first)))
  await t.throwsAsync(kv.get(key(9)), { message: /The value log is damaged/ })
})

test('collectSegments(): keeps values that were written again in between', async (t) => {
  const folder = await folderOf(t)
  const log = await ValueLog.open(folder, { segmentBytes: 1 })
  t.teardown(() => log.close())
  const [pointer] = await log.append([1, 2, 3, 4, 5, 6].map((i) => ({ key: key(i), pieces: [value(i)] })))
  await log.append([{ key: key(7), pieces: [value(7)] }])
  if (!pointer) return t.fail()
  const looks = [sealPointer(1n, pointer), undefined, undefined, undefined, undefined, undefined, seal(2n, Buffer.from('anew'))]
  const writes: Write[] = []
  const kv = {
    async write(write: Write) {
      writes.push(write)
      return { ok: true, version: 0n } as const
    },
  } as Kv
  t.is(await collectSegments({ log, kv, look: () => looks.shift(), rows: async function* () {} }), 1)
  t.deepEqual([looks, writes], [[], []])
})
