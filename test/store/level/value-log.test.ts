import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { ValueLog, type LogEntry, type ValueLogOptions } from '#store/level/value-log.ts'
import { folderOf } from './folders.ts'

const item = (name: string, size: number) => ({ key: Buffer.from(name), pieces: [Buffer.alloc(size, name)] })
const damaged = { name: 'StoreFailure', message: /^The value log is damaged: segment \d+, offset \d+\. Restore a backup\.$/ }

async function logIn(t: ExecutionContext, folder: string, options: ValueLogOptions = { segmentBytes: 1000 }): Promise<ValueLog> {
  const log = await ValueLog.open(folder, options)
  t.teardown(() => log.close())
  return log
}
const segmentsOf = async (folder: string): Promise<string[]> => (await readdir(folder)).toSorted()
async function entriesOf(log: ValueLog, segment: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for await (const entry of log.entries(segment)) entries.push(entry)
  return entries
}

test('ValueLog.append(): returns the places of the values', async (t) => {
  const log = await logIn(t, await folderOf(t), { segmentBytes: 10_000_000 })
  const items = [item('a', 1), item('b', 0), item('c', 70_000), item('a', 3)]
  const pointers = await log.append(items)
  for (const [i, pointer] of pointers.entries()) t.deepEqual(await log.read(pointer), items[i]?.pieces[0])
  t.deepEqual(await log.append([]), [])
})

test('ValueLog.append() writes more pieces than one system call takes', async (t) => {
  const log = await logIn(t, await folderOf(t), { segmentBytes: 10_000_000 })
  const items = Array.from({ length: 1500 }, (_, i) => item(`key ${i}`, 20 + (i % 7)))
  const pointers = await log.append(items)
  for (const [i, pointer] of pointers.entries()) if (i % 341 < 3) t.deepEqual(await log.read(pointer), items[i]?.pieces[0])
})

test('ValueLog: starts a segment when one is full and after each opening', async (t) => {
  const folder = await folderOf(t)
  const log = await logIn(t, folder)
  for (let i = 0; i < 5; i++) await log.append([item('k', 600)])
  t.deepEqual(await segmentsOf(folder), ['00000001.values', '00000002.values', '00000003.values'])
  t.deepEqual(await log.sealed(), [1, 2])
  const [pointer] = await log.append([item('last', 10)])
  await log.close()

  const again = await logIn(t, folder)
  t.deepEqual(await again.sealed(), [1, 2, 3], 'segments of an earlier process do not grow')
  t.like((await again.append([item('new', 10)]))[0], { segment: 4, offset: 12 + 3, length: 10 })
  t.deepEqual(pointer && (await again.read(pointer)), item('last', 10).pieces[0])
})

test('ValueLog.entries(): lists appended values, also with long keys', async (t) => {
  const log = await logIn(t, await folderOf(t), { segmentBytes: 100 })
  const items = [item('a', 50), item('k'.repeat(5000), 3000), item('c', 1)]
  const pointers = await log.append(items)
  await log.append([item('next', 1)])
  t.deepEqual(
    await entriesOf(log, 1),
    items.map(({ key }, i) => ({ key, pointer: pointers[i] }) as LogEntry),
  )
})

test('ValueLog.entries(): ends at a torn tail, torn at any octet', async (t) => {
  const folder = await folderOf(t)
  const first = await logIn(t, folder)
  await first.append([item('one', 300), item('two', 300), item('three', 300)])
  await first.close()
  const path = join(folder, '00000001.values')
  const { size } = await stat(path)
  const borders = [315, 630, size]
  for (const length of [size - 1, 640, 635, 631, 630, 320, 5, 0]) {
    await truncate(path, length)
    const log = await logIn(t, folder)
    t.is((await entriesOf(log, 1)).length, borders.filter((border) => border <= length).length, `cut at ${length}`)
    await log.close()
  }
  await appendFile(path, Buffer.alloc(400))
  const zeros = await logIn(t, folder)
  t.deepEqual(await entriesOf(zeros, 1), [], 'zeros are not read as entries')
})

test('ValueLog.read() refuses damaged, cut and missing values', async (t) => {
  const folder = await folderOf(t)
  const log = await logIn(t, folder)
  const [good, flipped, cut] = await log.append([item('good', 100), item('flipped', 100), item('cut', 100)])
  if (!good || !flipped || !cut) return t.fail()
  const path = join(folder, '00000001.values')
  const bytes = await readFile(path)
  bytes[flipped.offset + 50] = 0xff
  await writeFile(path, bytes.subarray(0, cut.offset + 99))
  t.deepEqual(await log.read(good), item('good', 100).pieces[0])
  await t.throwsAsync(log.read(flipped), damaged)
  await t.throwsAsync(log.read(cut), damaged)
  await t.throwsAsync(log.read({ ...good, segment: 9 }), damaged)
  await writeFile(join(folder, '00000009.values'), bytes)
  t.deepEqual(await log.read({ ...good, segment: 9 }), item('good', 100).pieces[0], 'a failed opening is not remembered')
})

test('ValueLog.drop() removes the segment and its reader', async (t) => {
  const folder = await folderOf(t)
  const log = await logIn(t, folder)
  const [pointer] = await log.append([item('a', 2000)])
  await log.append([item('b', 1)])
  if (!pointer) return t.fail()
  const reading = log.read(pointer)
  t.deepEqual(await reading, item('a', 2000).pieces[0])
  await log.drop(1)
  t.deepEqual(await segmentsOf(folder), ['00000002.values'])
  await t.throwsAsync(log.read(pointer), damaged)
  await log.close()
  await log.close()
})

test('ValueLog.sealed(): never lists a segment that is being created', async (t) => {
  const log = await logIn(t, await folderOf(t), { segmentBytes: 1 })
  for (let next = 1; next <= 100; next++) {
    const appending = log.append([item('k', 100)])
    let isDone = false
    void appending.then(() => (isDone = true))
    while (!isDone) t.false((await log.sealed()).includes(next), `segment ${next}`)
    const [pointer] = await appending
    t.is(pointer?.segment, next)
  }
})
