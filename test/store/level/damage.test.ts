/** Flipped bits in files of the embedded store: the check reports each bit that changes the content. */
import { open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from '#test'
import { digestRows } from '#store/engine/row-digest.ts'
import { StoreDamaged, StoreFailure, StoreUnavailable, type Bytes, type Kv } from '#store/kv.ts'
import { KnownDamage } from '#store/level/known-damage.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { snapshotRows } from '#store/level/snapshot.ts'
import type { ValueLog } from '#store/level/value-log.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import { crashCopy, folderOf, openedBy, storeOf } from './folders.ts'

const key = (i: number): Bytes => Buffer.from(`key ${String(i).padStart(5, '0')}`)
const options = { maxInline: 500, segmentBytes: 100_000, writeBufferSize: 64 * 1024 }

/** Writes some hundred records of several sizes, in several tables, the log and the value log. */
async function fill(kv: Kv): Promise<void> {
  const seeded = new Seeded('content of a damaged store')
  for (let group = 0; group < 60; group++) {
    const sets = Array.from({ length: 10 }, (_, i) => {
      const size = seeded.pick([20, 200, 450, 450, 2000])
      return { key: key(10 * group + i), value: Buffer.from(seeded.bytes(size).toString('hex').slice(0, size)) }
    })
    await kv.write({ checks: [], sets, deletes: [], adds: [{ key: Buffer.from('count'), delta: 1 }] })
  }
}

const pathsIn = async (folder: string): Promise<string[]> => {
  const paths = (await readdir(folder, { recursive: true })).map((name) => join(folder, name)).toSorted()
  const sizes = await Promise.all(paths.map(async (path) => ({ path, stats: await stat(path) })))
  return sizes.filter(({ stats }) => stats.isFile() && stats.size > 0).map(({ path }) => path)
}

const tablesIn = async (folder: string): Promise<string[]> => (await pathsIn(folder)).filter((path) => path.endsWith('.ldb'))

async function flip(path: string, at: number, bit = 0): Promise<void> {
  await using file = await open(path, 'r+') // in place, because LevelDB may have mapped the file
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at)
  buffer[0] = (buffer[0] ?? 0) ^ (1 << bit)
  await file.write(buffer, 0, 1, at)
}

/** Returns the content of a backup, or the failure. */
async function contentOf(folder: string): Promise<string> {
  try {
    await using kv = await LevelKv.open(folder, options)
    await using snapshot = kv.snapshot()
    const { digest } = await digestRows(snapshot.rows)
    return kv.missingGroups.length > 0 ? 'damaged' : digest
  } catch (error) {
    if (error instanceof StoreDamaged || error instanceof StoreUnavailable) return 'damaged'
    throw error
  }
}

/** Flips bits of these files one at a time. Returns the bits that changed the content without being found. */
async function unnoticed(t: ExecutionContext, folder: string, paths: readonly string[], bits: number, seed: string): Promise<string[]> {
  const seeded = new Seeded(`${seed} ${seedOf(0)}`)
  const expected = await contentOf(await crashCopy(t, folder))
  const missed: string[] = []
  for (let i = 0; i < bits; i++) {
    const path = seeded.pick(paths)
    const [at, bit] = [seeded.between(0, (await stat(path)).size - 1), seeded.between(0, 7)]
    await flip(path, at, bit)
    const isFound = (await KnownDamage.look(folder)).length > 0
    if (!isFound && ![expected, 'damaged'].includes(await contentOf(await crashCopy(t, folder)))) missed.push(`${path} ${at}.${bit}`)
    await flip(path, at, bit)
  }
  return missed
}

test('damage: reports flipped bits of a closed store, or they change no row', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  await kv[Symbol.asyncDispose]()
  t.deepEqual(await KnownDamage.look(folder), [])
  const paths = await pathsIn(folder)
  t.true(paths.filter((path) => path.endsWith('.ldb')).length > 1)
  t.deepEqual(await unnoticed(t, folder, paths, 200, 'closed store'), [], 'ledger: a flipped bit went unnoticed')
})

test('damage: reports flipped bits in log and MANIFEST of a killed store', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  const killed = await crashCopy(t, folder)
  const paths = (await pathsIn(killed)).filter((path) => /\.log$|MANIFEST/.test(path))
  t.deepEqual(await unnoticed(t, killed, paths, 100, 'killed store'), [], 'ledger: a flipped bit went unnoticed')
})

test('damage: reports a flipped bit in the first, middle and last block of a table', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  await kv[Symbol.asyncDispose]()
  const [path = ''] = await tablesIn(folder)
  const { size } = await stat(path)
  // LevelDB does not read the padding of two pointers in the footer, whose last 8 octets are a fixed number
  const places = [0, 1, 4000, Math.floor(size / 2), size - 49, size - 53, size - 60, size - 8, size - 1]
  for (const at of places) {
    await flip(path, at)
    const [damage] = await KnownDamage.look(folder)
    t.regex(damage?.sentence ?? '', /^records\/\d+\.ldb is damaged at octet \d+\.$/, `octet ${at} of ${size}`)
    await flip(path, at)
  }
  t.deepEqual(await KnownDamage.look(folder), [])
})

test('damage: a log truncated by a crash is not damaged', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  const killed = await crashCopy(t, folder)
  const log = (await pathsIn(killed)).findLast((path) => path.endsWith('.log')) ?? ''
  const seeded = new Seeded('cuts')
  for (let { size } = await stat(log); size > 100; size -= seeded.between(1, 3000)) {
    await truncate(log, size)
    t.deepEqual(await KnownDamage.look(killed), [], `cut to ${size}`)
  }
})

test('damage: reports missing and cut tables, a missing and a wrong CURRENT', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  await kv[Symbol.asyncDispose]()
  const [table = ''] = await tablesIn(folder)
  const look = async (): Promise<string | undefined> => (await KnownDamage.look(folder))[0]?.sentence
  const bytes = await readFile(table)
  await truncate(table, bytes.length - 1)
  t.regex((await look()) ?? '', /is damaged at octet \d+\.$/)
  await truncate(table, 0)
  t.regex((await look()) ?? '', /is damaged at octet 0\.$/)
  await writeFile(table, bytes)
  const current = join(folder, 'records', 'CURRENT')
  const name = await readFile(current)
  await writeFile(current, 'MANIFEST-999999\n')
  t.is(await look(), 'records/CURRENT names the file MANIFEST-999999, which is missing.')
  await t.throwsAsync(LevelKv.open(folder), { name: 'StoreUnavailable', message: /^The store in .* is damaged\. records\/CURRENT names/ })
  await writeFile(current, name)
  t.is(await look(), undefined)
})

/** Damages the filter of a table. Its rows remain readable. */
async function damageFilter(folder: string): Promise<void> {
  const [path = ''] = await tablesIn(folder)
  const table = await readFile(path)
  // the index of the filter follows it; the first octets of the footer contain its place
  const places = table.subarray(table.length - 48)
  const number = (at: number): [number, number] => {
    let [value, next] = [0, at]
    for (let shift = 0; ; shift += 7) {
      const octet = places[next++] ?? 0
      value += (octet & 0x7f) * 2 ** shift
      if (octet < 0x80) return [value, next]
    }
  }
  await flip(path, number(0)[0] - 1)
}

test('damage: LevelKv reports it, and reads that need all rows fail', async (t) => {
  const { kv: filled, folder } = await storeOf(t, options)
  await fill(filled)
  await filled[Symbol.asyncDispose]()
  const kv = await openedBy(t, folder, options)
  await damageFilter(folder)
  await t.throwsAsync(LevelKv.open(folder, { ...options, mustBeWhole: true }), {
    message: /"postern verify"|Restore the last good backup\.$/,
  })
  await kv.check(() => {})
  t.regex(kv.damage[0]?.sentence ?? '', /^records\/\d+\.ldb is damaged at octet \d+\.$/)
  const all = { start: Buffer.of(0), end: Buffer.of(0xff) }
  const expected = { instanceOf: StoreDamaged, message: /^The store is damaged, and rows may be missing: .*\. Run "postern verify"\.$/ }
  for (const reverse of [false, true]) {
    t.is((await Array.fromAsync(kv.range({ ...all, reverse }))).length, 600, 'a read that may miss rows returns the intact rows')
    await t.throwsAsync(Array.fromAsync(kv.range({ ...all, reverse, whole: true })), expected)
  }
  const behind = { start: Buffer.from('a'), end: Buffer.from('b'), whole: true }
  t.deepEqual(await Array.fromAsync(kv.range(behind)), [], 'the range has no rows of the damaged table')
  const absent = Buffer.from('key 00000 that is not there')
  await t.throwsAsync(kv.get(absent), expected)
  await t.throwsAsync(kv.getMany([key(0), absent]), expected)
  t.true((await kv.write({ checks: [], sets: [{ key: key(0), value: key(1) }], deletes: [], adds: [] })).ok)
})

test('damage: remains known without its file; is dropped if the file is whole', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  await kv[Symbol.asyncDispose]()
  const [table = ''] = await tablesIn(folder)
  const mark = join(folder, 'damaged.json')
  const keys = { from: Buffer.from(key(1)).toString('hex'), upTo: Buffer.from(key(5)).toString('hex') }
  const gone = { file: '999999.ldb', problem: 'is damaged at octet 7', keys }
  await writeFile(mark, JSON.stringify([gone, { ...gone, file: table.slice(-10) }]))
  const again = await openedBy(t, folder, { ...options, mustBeWhole: true })
  const sentence =
    'records/999999.ldb was damaged at octet 7 at an earlier check. LevelDB has written its rows into other files since; some may be missing or wrong.'
  t.deepEqual(again.damage, [{ isGone: true, sentence }])
  t.deepEqual(JSON.parse(await readFile(mark, 'utf8')), [gone])
  t.deepEqual(await again.check(() => {}), again.damage)
  await t.throwsAsync(Array.fromAsync(again.range({ start: key(0), end: key(9), whole: true })), { instanceOf: StoreDamaged })
})

test('damage: the check of an open store pauses and finds no false damage', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  let rests = 0
  const written = fill(kv)
  let isWritten = false
  void written.then(() => (isWritten = true))
  while (!isWritten) t.deepEqual(await kv.check(async () => void rests++), [])
  await written
  t.deepEqual(await kv.check(() => void rests++), [])
  t.true(rests > 0)
  t.false((await readdir(folder)).includes('damaged.json'))
})

test('damage: a snapshot with rows out of order is refused', async (t) => {
  const stored = Buffer.alloc(9)
  const pages: [Bytes, Bytes][][] = [[[key(2), stored], [key(1), stored]], []] // prettier-ignore
  const rows = snapshotRows({ nextv: async () => pages.shift() ?? [] }, {} as ValueLog, 0n)
  await t.throwsAsync(Array.fromAsync(rows), { instanceOf: StoreFailure, message: /rows are out of order/ })
})

test('damage: an empty folder is whole', async (t) => {
  t.deepEqual(await KnownDamage.look(await folderOf(t)), [])
})
