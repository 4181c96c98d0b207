import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from '#test'
import { StoreFailure, type Bytes, type Entry, type Kv, type WriteResult } from '#store/kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { mayHoldGroup } from '#store/level/log-tail.ts'
import { crashCopy, folderOf, openedBy, storeOf } from './folders.ts'
import { column } from '../../support/column.ts'

const key = (i: number): Bytes => Buffer.from(`key ${String(i).padStart(5, '0')}`)
const name = (bytes: Bytes): string => Buffer.from(bytes).toString()
const set = (kv: Kv, i: number, value: Bytes = Buffer.from(`value ${i}`)): Promise<WriteResult> =>
  kv.write({ checks: [], sets: [{ key: key(i), value }], deletes: [], adds: [] })
const all = async (kv: Kv): Promise<Entry[]> => Array.fromAsync(kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))

/** The newest write-ahead log of LevelDB in a data folder. */
async function writeAheadLog(folder: string): Promise<string> {
  const logs = (await readdir(join(folder, 'records'))).filter((name) => name.endsWith('.log')).toSorted()
  return join(folder, 'records', logs.at(-1) ?? 'none')
}

const locked = (folder: string) => ({
  instanceOf: Error,
  name: 'StoreUnavailable',
  message: `The data folder ${folder} is in use by another Postern process. Stop it, or set POSTERN_DATA_DIR to another folder.`,
})

test('LevelKv.open(): refuses a folder that this process already has open', async (t) => {
  const { kv, folder } = await storeOf(t)
  await t.throwsAsync(LevelKv.open(folder), locked(folder))
  t.true((await set(kv, 1)).ok, 'the first opening still writes')
  await kv[Symbol.asyncDispose]()
  t.is((await all(await openedBy(t, folder))).length, 1)
})

test('LevelKv.open(): refuses a folder of a live process, not of a killed one', async (t) => {
  const folder = await folderOf(t)
  const module = new URL('../../../store/level/level-kv.ts', import.meta.url).href
  const code = `const { LevelKv } = await import(${JSON.stringify(module)})
    const kv = await LevelKv.open(${JSON.stringify(folder)})
    await kv.write({ checks: [], sets: [{ key: Buffer.from('mine'), value: Buffer.from('kept') }], deletes: [], adds: [] })
    process.stdout.write('open')
    setInterval(() => kv, 1000)`
  const other = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => other.kill('SIGKILL'))
  await once(other.stdout, 'data')
  await t.throwsAsync(LevelKv.open(folder), locked(folder))
  const gone = once(other, 'exit')
  other.kill('SIGKILL')
  await Promise.all([gone, text(other.stdout)])
  const kv = await openedBy(t, folder)
  t.deepEqual(
    (await all(kv)).map(({ value }) => Buffer.from(value).toString()),
    ['kept'],
  )
})

test('LevelKv.open(): reports why it cannot open a folder', async (t) => {
  const folder = await folderOf(t)
  await writeFile(join(folder, 'file'), '')
  const inFile = join(folder, 'file', 'data')
  await t.throwsAsync(LevelKv.open(inFile), {
    name: 'StoreUnavailable',
    message: new RegExp(`^The data folder ${inFile} cannot be opened: ENOTDIR`),
  })
  await writeFile(join(folder, 'values'), '')
  const blocked = { name: 'StoreUnavailable', message: /cannot be opened: EEXIST/ }
  await t.throwsAsync(LevelKv.open(folder), blocked)
  await t.throwsAsync(LevelKv.open(folder), blocked, 'the first attempt released its lock')
})

test('LevelKv.write(): reports size and time of groups, which writes share', async (t) => {
  const groups: number[] = []
  const { kv } = await storeOf(t, { onGroup: ({ writes, milliseconds }) => void groups.push(milliseconds >= 0 ? writes : -1) })
  await Promise.all(Array.from({ length: 50 }, (_, i) => set(kv, i)))
  await set(kv, 50)
  t.deepEqual(groups, [50, 1])
})

test('LevelKv.write(): reports rows and octets of a group, with large values', async (t) => {
  const groups: { readonly rows: number; readonly bytes: number }[] = []
  const { kv } = await storeOf(t, { maxInline: 100, onGroup: ({ rows, bytes }) => void groups.push({ rows, bytes }) })
  await set(kv, 1, Buffer.alloc(10)) // a value has a header of 9 octets, a pointer into the value log 27 in all
  await kv.write({ checks: [], sets: [{ key: key(2), value: Buffer.alloc(5000) }], deletes: [key(1)], adds: [{ key: key(3), delta: 1 }] })
  await kv.write({ checks: [{ key: key(1), version: 5n }], sets: [{ key: key(1), value: key(1) }], deletes: [], adds: [] })
  t.deepEqual(groups, [
    { rows: 1, bytes: 9 + 9 + 10 },
    { rows: 3, bytes: 3 * 9 + 27 + 5000 + 17 },
    { rows: 0, bytes: 0 },
  ])
})

test('LevelKv.write(): syncs no group if all its writes are refused', async (t) => {
  let batches = 0
  const { kv } = await storeOf(t, { beforeBatch: () => void batches++ })
  const refused = { checks: [{ key: key(1), version: 5n }], sets: [{ key: key(1), value: key(1) }], deletes: [], adds: [] }
  const overLimit = { checks: [], sets: [], deletes: [], adds: [{ key: key(2), delta: 2, limit: 1 }] }
  const results = await Promise.all([kv.write(refused), kv.write(overLimit)])
  t.deepEqual(column(results, 'ok'), [false, false])
  t.is(batches, 0)
})

test('LevelKv: fails for good with a failed batch; keeps all acknowledged writes', async (t) => {
  let lasted = 0
  for (let failing = 1; lasted === 0; failing++) {
    const folder = await folderOf(t)
    const failures: StoreFailure[] = []
    let batch = 0
    const kv = await LevelKv.open(folder, {
      maxInline: 100,
      onFailure: (failure) => failures.push(failure),
      beforeBatch() {
        if (++batch === failing) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
      },
    })
    const acknowledged = new Set<number>()
    const refused = new Set<number>()
    // groups of 1, 2, 3 … writes of two keys each, every third one large, and a counter
    for (let group = 0, i = 0; group < 12; group++) {
      const writes = Array.from({ length: (group % 4) + 1 }, () => {
        const number = 2 * i++
        const value = Buffer.alloc(number % 3 === 0 ? 300 : 30, `${number} `)
        const sets = [
          { key: key(number), value },
          { key: key(number + 1), value },
        ]
        return kv.write({ checks: [], sets, deletes: [], adds: [{ key: Buffer.from('count'), delta: 1 }] }).then(
          () => acknowledged.add(number),
          (error: unknown) => {
            t.true(error instanceof StoreFailure)
            refused.add(number)
          },
        )
      })
      await Promise.all(writes)
    }
    if (failing > 12) {
      t.is(refused.size, 0)
      lasted = failing
    } else {
      t.is(failures.length, 1)
      t.like(failures[0]?.cause, { message: 'no space' })
      t.true(refused.size > 0)
      await t.throwsAsync(set(kv, 999), { is: failures[0] as StoreFailure })
    }
    await kv[Symbol.asyncDispose]()
    const again = await openedBy(t, folder)
    t.deepEqual((await all(again)).map((entry) => name(entry.key)).toSorted(), [...keysOfPairs(acknowledged)].toSorted())
    t.is(await again.counter(Buffer.from('count')), acknowledged.size)
    t.is(failures.length, failing > 12 ? 0 : 1)
  }
  t.is(lasted, 13)
})
const keysOfPairs = (numbers: ReadonlySet<number>): Set<string> => new Set([...numbers].flatMap((i) => [name(key(i)), name(key(i + 1))]))

test('mayHoldGroup(): true if the log holds all of the group, or is unreadable', async (t) => {
  const { kv, folder } = await storeOf(t)
  const records = join(folder, 'records')
  await set(kv, 1)
  t.true(await mayHoldGroup(records, 1))
  t.false(await mayHoldGroup(records, 2))
  const sets = Array.from({ length: 100 }, (_, i) => ({ key: key(i), value: Buffer.alloc(1000) }))
  await kv.write({ checks: [], sets, deletes: [], adds: [] })
  t.true(await mayHoldGroup(records, 2))
  const log = await writeAheadLog(folder)
  await truncate(log, (await stat(log)).size - 1)
  t.false(await mayHoldGroup(records, 2), 'the end of the record is missing')
  t.true(await mayHoldGroup(join(folder, 'elsewhere'), 2), 'a log that cannot be read')
})

test('LevelKv: a write after closing fails without reporting a disk failure', async (t) => {
  const failures: StoreFailure[] = []
  const { kv } = await storeOf(t, { onFailure: (failure) => failures.push(failure) })
  await kv[Symbol.asyncDispose]()
  await t.throwsAsync(set(kv, 1), { instanceOf: StoreFailure, message: 'The store is closed.' })
  t.deepEqual(failures, [])
})

test('LevelKv: fails for good if the value log is not writable', async (t) => {
  const { kv, folder } = await storeOf(t, { maxInline: 10, segmentBytes: 1 })
  await set(kv, 1, Buffer.alloc(100))
  await writeFile(join(folder, 'values', '00000002.values'), 'in the way')
  await t.throwsAsync(set(kv, 2, Buffer.alloc(100)), { instanceOf: StoreFailure })
  await t.throwsAsync(set(kv, 3), { instanceOf: StoreFailure })
  t.is((await all(kv)).length, 1)
})

test('LevelKv: an error names the key of a damaged value', async (t) => {
  const { kv, folder } = await storeOf(t, { maxInline: 10 })
  await set(kv, 1, Buffer.alloc(100, 'a'))
  await set(kv, 2, Buffer.alloc(100, 'b'))
  const path = join(folder, 'values', '00000001.values')
  const bytes = await readFile(path)
  bytes.fill('x', 50, 60)
  await writeFile(path, bytes)
  const error = await t.throwsAsync<StoreFailure>(kv.get(key(1)), { instanceOf: StoreFailure, message: /damaged/ })
  t.deepEqual(error.key, key(1))
  t.is((await kv.get(key(2)))?.value.length, 100)
  await t.throwsAsync(all(kv), { instanceOf: StoreFailure })
})

test('LevelKv.missingGroups: empty after close, kill and a truncated log', async (t) => {
  const { kv, folder } = await storeOf(t)
  for (let i = 0; i < 50; i++) await set(kv, i)
  t.deepEqual(kv.missingGroups, [])
  const copy = await crashCopy(t, folder)
  const log = await writeAheadLog(copy)
  await truncate(log, (await readFile(log)).length - 20)
  const cut = await openedBy(t, copy)
  t.is((await all(cut)).length, 49)
  t.deepEqual(cut.missingGroups, [])
  await set(cut, 49)
  await cut[Symbol.asyncDispose]()
  t.deepEqual((await openedBy(t, copy)).missingGroups, [])
})

for (const [size, at] of [
  [20, 0.1],
  [20, 0.5],
  [20, 0.9],
  [3000, 0.05],
  [3000, 0.5],
  [3000, 0.9],
  [70_000, 0.5],
] as const) {
  test(`LevelKv.missingGroups: lists groups lost to damage at ${at} of the log, with values of ${size} bytes`, async (t) => {
    const { kv, folder } = await storeOf(t, { maxInline: 100_000 })
    for (let i = 0; i < 50; i++) await set(kv, i, Buffer.alloc(size, `${i} `))
    const copy = await crashCopy(t, folder)
    const log = await writeAheadLog(copy)
    const bytes = await readFile(log)
    const middle = Math.floor(bytes.length * at)
    bytes.fill(0xa5, middle, middle + 100)
    await writeFile(log, bytes)
    const damaged = await openedBy(t, copy)
    const missing = new Set(damaged.missingGroups.map((number) => number - 1))
    const kept = Array.from({ length: 50 }, (_, i) => i).filter((i) => !missing.has(i))
    t.true(missing.size > 0)
    t.deepEqual(
      (await all(damaged)).map((entry) => name(entry.key)),
      kept.map((i) => name(key(i))),
    ) // LevelDB skips to its next block of 32 KiB

    await set(damaged, 99)
    const lost = damaged.missingGroups
    await damaged[Symbol.asyncDispose]()
    t.deepEqual((await openedBy(t, copy)).missingGroups, lost, 'later openings report the same groups')
  })
}

test('LevelKv.missingGroups: empty if only the last group is incomplete', async (t) => {
  for (const size of [20, 100_000]) {
    const { kv, folder } = await storeOf(t, { maxInline: 200_000 })
    for (let i = 0; i < 5; i++) await set(kv, i)
    const { length } = await readFile(await writeAheadLog(folder))
    await set(kv, 5, Buffer.alloc(size, 'torn'))
    const copy = await crashCopy(t, folder)
    const log = await writeAheadLog(copy)
    const bytes = await readFile(log)
    bytes.fill(0, length + 10, length + 40) // a page that did not reach the disk, although later pages did
    await writeFile(log, bytes)
    const again = await openedBy(t, copy)
    t.is((await all(again)).length, 5)
    t.deepEqual(again.missingGroups, [])
  }
})
