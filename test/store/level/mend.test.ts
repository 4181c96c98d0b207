/** Repairs at the opening of a damaged store, and the memory of lost rows and writes. */
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import test from '#test'
import { digestRows } from '#store/engine/row-digest.ts'
import { StoreDamaged, type Bytes, type Entry, type Kv, type Range } from '#store/kv.ts'
import { KnownDamage } from '#store/level/known-damage.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { Seeded, seedOf } from '../../support/seeded.ts'
import { crashCopy, openedBy, storeOf } from './folders.ts'

const key = (i: number): Bytes => Buffer.from(`key ${String(i).padStart(5, '0')}`)
const options = { maxInline: 500, segmentBytes: 100_000, writeBufferSize: 64 * 1024 }
const groups = 60
const everything = { start: Buffer.of(0), end: Buffer.of(0xff) }

/** Writes some hundred records in several tables, the log and the value log. */
async function fill(kv: Kv): Promise<void> {
  const seeded = new Seeded('content of a mended store')
  for (let group = 0; group < groups; group++) {
    const sets = Array.from({ length: 10 }, (_, i) => {
      const size = seeded.pick([20, 200, 450, 450, 2000])
      return { key: key(10 * group + i), value: Buffer.from(seeded.bytes(size).toString('hex').slice(0, size)) }
    })
    await kv.write({ checks: [], sets, deletes: [], adds: [] })
  }
}

async function closedStore(t: ExecutionContext): Promise<string> {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  await kv[Symbol.asyncDispose]()
  return folder
}

async function killedStore(t: ExecutionContext): Promise<string> {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  return crashCopy(t, folder)
}

async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  const names = (await readdir(join(folder, 'records'))).filter((name) => pattern.test(name)).toSorted()
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, 'records', name))).size))
  return names.filter((_, i) => (sizes[i] ?? 0) > 0)
}

async function change(folder: string, name: string, edit: (bytes: Buffer) => void): Promise<void> {
  const bytes = await readFile(join(folder, name))
  edit(bytes)
  await using file = await open(join(folder, name), 'r+') // in place, because LevelDB may have mapped the file
  await file.write(bytes, 0, bytes.length, 0)
}

async function digestOf(folder: string): Promise<string> {
  await using kv = await LevelKv.open(folder, options)
  await using snapshot = kv.snapshot()
  return (await digestRows(snapshot.rows)).digest
}

const all = (kv: Kv, range: Partial<Range> = {}): Promise<Entry[]> => Array.fromAsync(kv.range({ ...everything, ...range }))

/** Flips one bit of a copy and opens it. Returns the places with other content. */
async function changedBy(t: ExecutionContext, folder: string, pattern: RegExp, bits: number): Promise<string[]> {
  const seeded = new Seeded(`${String(pattern)} ${seedOf(0)}`)
  const expected = await digestOf(await crashCopy(t, folder))
  const names = await namesIn(folder, pattern)
  const changed: string[] = []
  for (let i = 0; i < bits; i++) {
    const copy = await crashCopy(t, folder)
    const name = seeded.pick(names)
    const { size } = await stat(join(copy, 'records', name))
    const [at, bit] = [seeded.between(0, size - 1), seeded.between(0, 7)]
    await change(copy, join('records', name), (bytes) => (bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)))
    if ((await digestOf(copy)) !== expected || (await KnownDamage.look(copy)).length > 0) changed.push(`${name} ${at}.${bit}`)
  }
  return changed
}

test('mend: corrects a flipped bit in a table, log, MANIFEST or CURRENT', async (t) => {
  const folder = await closedStore(t)
  t.deepEqual(await changedBy(t, folder, /\.ldb$/, 60), [], 'ledger: tables')
  t.deepEqual(await changedBy(t, folder, /^MANIFEST|^CURRENT$/, 20), [], 'ledger: MANIFEST and CURRENT')
  t.deepEqual(await changedBy(t, await killedStore(t), /\.log$/, 40), [], 'ledger: the log of a killed store')
})

test('mend: a daemon corrects files and reports it; commands do not correct files', async (t) => {
  const folder = await closedStore(t)
  const [name = ''] = await namesIn(folder, /\.ldb$/)
  await change(folder, join('records', name), (bytes) => (bytes[100] = (bytes[100] ?? 0) ^ 4))
  const before = await readFile(join(folder, 'records', name))
  await t.throwsAsync(LevelKv.open(folder, { ...options, mustBeWhole: true }), { name: 'StoreUnavailable', message: /is damaged at octet/ })
  t.true((await readFile(join(folder, 'records', name))).equals(before))
  const kv = await openedBy(t, folder, options)
  t.deepEqual(kv.mended, [`records/${name} had a flipped bit at octet 100.`])
  t.deepEqual(kv.damage, [])
  t.is((await all(kv, { whole: 'shown' })).length, 10 * groups)
  t.false((await readdir(folder)).some((entry) => ['damaged.json', 'damaged', 'mending', 'unchecked'].includes(entry)))
})

test('mend: garbage in tables neither ends the process nor silently omits rows', async (t) => {
  const folder = await closedStore(t)
  const seeded = new Seeded(`garbage ${seedOf(0)}`)
  const names = await namesIn(folder, /\.ldb$/)
  const outcomes = new Set<string>()
  for (let i = 0; i < 20; i++) {
    const copy = await crashCopy(t, folder)
    const name = seeded.pick(names)
    const { size } = await stat(join(copy, 'records', name))
    const length = seeded.pick([4, 40, 512])
    const [at, garbage] = [seeded.between(0, size - length - 1), seeded.bytes(length)]
    await change(copy, join('records', name), (bytes) => bytes.set(garbage, at))
    const place = `${length} octets at ${at} of ${name}`
    const kv = await LevelKv.open(copy, options).catch((error: Error) => error)
    if (kv instanceof Error) {
      t.regex(
        kv.message,
        /^The store in .* is damaged\. records\/\d+\.ldb is damaged at octet \d+\.( \d+ more problems.*)? Restore the last good backup\.$/,
        place,
      )
      outcomes.add('refused')
      continue
    }
    const listed = await all(kv, { whole: true }).catch((error: unknown) => error)
    t.true(listed instanceof StoreDamaged || (listed as Entry[]).length === 10 * groups, `ledger: ${place}`)
    t.true((await all(kv)).length <= 10 * groups)
    await kv.compact(everything.start, everything.end)
    t.true((await kv.write({ checks: [], sets: [{ key: Buffer.from('new'), value: key(1) }], deletes: [], adds: [] })).ok, place)
    const known = kv.damage.length
    if (known > 0) t.true((await readdir(join(copy, 'damaged'))).includes(name), 'a copy of the damaged file is stored')
    outcomes.add(known > 0 ? 'emptied' : 'harmless')
    await kv[Symbol.asyncDispose]()
    await using again = await LevelKv.open(copy, options)
    t.is(again.damage.length, known, `the loss is still reported: ${place}`)
    t.true(again.damage.every(({ isGone }) => isGone))
  }
  t.true(outcomes.has('emptied'))
})

/** A killed store with garbage in the middle of its log. */
async function withGarbageInLog(t: ExecutionContext): Promise<string> {
  const folder = await killedStore(t)
  const log = (await namesIn(folder, /\.log$/)).at(-1) ?? ''
  await change(folder, join('records', log), (bytes) => bytes.fill(0xa5, 2000, 2100))
  return folder
}

test('mend: refuses lists after losses in a log until they are accepted', async (t) => {
  const folder = await withGarbageInLog(t)
  const first = await LevelKv.open(folder, options)
  t.true(first.missingGroups.length > 0)
  const kept = (await all(first)).length
  t.true(kept < 10 * groups)
  const refused = {
    instanceOf: StoreDamaged,
    message: /rows may be missing: records\/\d+\.log is damaged at octet \d+\. Run "postern verify"\./,
  }
  await t.throwsAsync(all(first, { whole: 'shown' }), refused, 'ledger: a list for a person')
  t.is((await all(first, { whole: true })).length, kept, 'a list for work of the daemon')
  t.is(await first.get(key(9999)), undefined)
  t.true((await first.write({ checks: [], sets: [{ key: Buffer.from('new'), value: key(1) }], deletes: [], adds: [] })).ok)
  await first[Symbol.asyncDispose]()

  const second = await LevelKv.open(folder, { ...options, mustBeWhole: true })
  t.is(second.damage.length, 1)
  t.regex(second.damage[0]?.sentence ?? '', /^records\/\d+\.log was damaged at octet \d+ when the store was opened\. Its writes are lost/)
  await t.throwsAsync(all(second, { whole: 'shown' }), refused)
  await second.acceptLosses()
  t.is((await all(second, { whole: 'shown' })).length, kept + 1)
  await second[Symbol.asyncDispose]()
  const third = await openedBy(t, folder, { ...options, mustBeWhole: true })
  t.deepEqual([third.damage, third.missingGroups], [[], []])
  t.is((await all(third, { whole: 'shown' })).length, kept + 1)
})

test('mend: damage to the log of an open store loses no rows', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  const log = (await namesIn(folder, /\.log$/)).at(-1) ?? ''
  await change(folder, join('records', log), (bytes) => bytes.fill(0xa5, 2000, 2100))
  t.deepEqual(await kv.check(() => {}), [])
  t.is((await all(kv, { whole: 'shown' })).length, 10 * groups)
  await kv[Symbol.asyncDispose]()
  const again = await openedBy(t, folder, options)
  t.deepEqual([again.damage, again.missingGroups], [[], []])
  t.is((await all(again)).length, 10 * groups)
})

test('mend: checks all tables at a start after a kill before their check', async (t) => {
  const folder = await closedStore(t)
  const [name = ''] = await namesIn(folder, /\.ldb$/)
  const quick = { ...options, quickTableBytes: 0 }
  const flip = (): Promise<void> => change(folder, join('records', name), (bytes) => (bytes[100] = (bytes[100] ?? 0) ^ 4))
  const first = await LevelKv.open(folder, quick)
  t.true((await readdir(folder)).includes('unchecked'))
  const killed = await crashCopy(t, folder)
  await first[Symbol.asyncDispose]()
  t.false((await readdir(folder)).includes('unchecked'), 'the store was closed')
  await flip()
  const second = await LevelKv.open(folder, quick)
  t.deepEqual(second.mended, [], 'a start after a close does not check a large store')
  t.is((await second.check(() => {})).length, 1)
  t.false((await readdir(folder)).includes('unchecked'), 'the store was checked')
  await second[Symbol.asyncDispose]()
  await using third = await LevelKv.open(folder, quick)
  t.is(third.mended.length, 1, 'an earlier check found the damage')
  await change(killed, join('records', name), (bytes) => (bytes[100] = (bytes[100] ?? 0) ^ 4))
  await using fourth = await LevelKv.open(killed, quick)
  t.is(fourth.mended.length, 1, 'the process was killed before the check')
})

test('mend: a check and a read find damaged large values, until their deletion', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  await fill(kv)
  t.deepEqual(await kv.checkValues(() => {}), [])
  const [name = ''] = (await readdir(join(folder, 'values'))).toSorted()
  const large = (await all(kv)).filter(({ value }) => value.length > 500)
  const place = (await readFile(join(folder, 'values', name))).indexOf(large[0]?.value ?? '')
  await change(folder, join('values', name), (bytes) => (bytes[place + 7] = (bytes[place + 7] ?? 0) ^ 4))
  const expected = [{ isGone: false, isOfValue: true as const, sentence: `values/${name} is damaged at octet ${place}.` }]
  let rests = 0
  t.deepEqual(await kv.checkValues(() => void rests++), expected)
  t.true(rests >= large.length)
  t.deepEqual(await kv.check(() => {}), [], 'check() skips large values: each read checks its value')
  t.deepEqual(kv.damage, expected)
  const again = await crashCopy(t, folder)
  await using copy = await LevelKv.open(again, { ...options, mustBeWhole: true })
  t.deepEqual(copy.damage, expected, 'the damage is stored')
  await kv.write({ checks: [], sets: [], deletes: [large[0]?.key ?? key(0)], adds: [] })
  t.deepEqual(await kv.checkValues(() => {}), [])
  await change(folder, join('values', name), (bytes) => bytes.fill(0, place + 2100, place + 90_000))
  await t.throwsAsync(all(kv), { instanceOf: StoreDamaged })
  t.is(kv.damage.length, 1, 'a failed read records the damage')
})
