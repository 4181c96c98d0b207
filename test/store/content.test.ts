import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import { Change } from '#store/change.ts'
import { contentRowBytes, Draft, readContent, readWholeContent, sweepAbandonedContent, type ContentRef } from '#store/content.ts'
import { Database } from '#store/database.ts'
import type { Bytes } from '#store/kv.ts'
import { Seeded } from '../support/seeded.ts'
import { keysOf } from './kinds.ts'
import { crashCopy, openedBy, storeOf } from './level/folders.ts'

const row = contentRowBytes
const sha256 = (bytes: Bytes): string => createHash('sha256').update(bytes).digest('hex')

/** Returns bytes whose rows all differ. */
function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i += 4) bytes.writeUInt8((i * 2654435761) >>> 24, i)
  return bytes
}

async function fill(draft: Draft, bytes: Bytes, chunkOf: () => number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const end = at + chunkOf()
    await draft.write(bytes.subarray(at, end))
    at = end
  }
}

async function databaseOf(t: ExecutionContext): Promise<{ database: Database; folder: string }> {
  const { kv, folder } = await storeOf(t)
  return { database: new Database(kv), folder }
}

async function accepted(database: Database, id: string, bytes: Bytes, chunk = bytes.length): Promise<ContentRef> {
  const draft = new Draft(database, 'org_1', id)
  await fill(draft, bytes, () => Math.max(1, chunk))
  const change = new Change()
  const ref = draft.seal(change)
  if (!(await database.commit(change)).ok) throw new Error('the write with the content was refused')
  return ref
}

for (const size of [0, 1, 4096, 100_000, row - 1, row, row + 1, 2 * row - 1, 2 * row, 2 * row + 1, 3 * 1024 * 1024 + 17]) {
  test(`Draft: stores ${size} bytes, whole and in chunks of other sizes than its rows`, async (t) => {
    const { database } = await databaseOf(t)
    const bytes = bytesOf(size)
    for (const [id, chunk] of [
      ['whole', size],
      ['odd', 65_521],
      ['rows', row],
    ] as const) {
      const ref = await accepted(database, id, bytes, chunk)
      t.deepEqual(ref, { id, size, sha256: sha256(bytes), rows: Math.max(1, Math.ceil(size / row)) })
      t.is(Buffer.compare(await readWholeContent(database, 'org_1', ref), bytes), 0)
    }
    t.true(
      (await keysOf(database)).every(([organization]) => organization === 'org_1'),
      'no marker stays',
    )
  })
}

test('Draft.write(): accepts chunks of any size and keeps their order', async (t) => {
  const { database } = await databaseOf(t)
  const seeded = new Seeded('chunks')
  const bytes = bytesOf(900_001)
  const draft = new Draft(database, 'org_1', 'c')
  await fill(draft, bytes, () => (seeded.chance(0.1) ? seeded.between(200_000, 600_000) : seeded.between(1, 3000)))
  const change = new Change()
  const ref = draft.seal(change)
  t.is(ref.size, bytes.length)
  await database.commit(change)
  const pieces: Bytes[] = []
  for await (const piece of readContent(database, 'org_1', ref)) pieces.push(piece)
  t.is(pieces.length, ref.rows)
  t.true(pieces.slice(0, -1).every((piece) => piece.length === row))
  t.is(sha256(Buffer.concat(pieces)), sha256(bytes))
})

test('Draft: a small message is written only with its acceptance', async (t) => {
  const { database } = await databaseOf(t)
  const draft = new Draft(database, 'org_1', 'c')
  t.is(draft.write(Buffer.from('one ')), undefined)
  t.is(draft.write(Buffer.from('two')), undefined)
  const change = new Change()
  const ref = draft.seal(change)
  t.deepEqual(Buffer.concat(draft.inMemory() ?? []).toString(), 'one two')
  t.is(change.sets.length, 1)
  t.deepEqual(await keysOf(database), [])
  await database.commit(change)
  await draft.discard(true)
  t.is((await readWholeContent(database, 'org_1', ref)).length, 7)
})

test('Draft.inMemory(): undefined after rows are in the store', async (t) => {
  const { database } = await databaseOf(t)
  const draft = new Draft(database, 'org_1', 'c')
  await draft.write(bytesOf(row + 5))
  t.is(draft.inMemory(), undefined)
})

for (const size of [10, row + 10, 3 * row]) {
  test(`Draft.discard(): removes all rows of ${size} bytes, before the seal and after a refused write`, async (t) => {
    const { database } = await databaseOf(t)
    const unsealed = new Draft(database, 'org_1', 'unsealed')
    await fill(unsealed, bytesOf(size), () => 100_000)
    await unsealed.discard()

    const refused = new Draft(database, 'org_1', 'refused')
    await fill(refused, bytesOf(size), () => 100_000)
    const change = new Change().check(['org_1', 'not there'], 7n)
    refused.seal(change)
    t.false((await database.commit(change)).ok)
    await refused.discard()
    t.deepEqual(await keysOf(database), [])
  })

  test(`Draft.seal(): a refused write can be repeated, with ${size} bytes`, async (t) => {
    const { database } = await databaseOf(t)
    const bytes = bytesOf(size)
    const draft = new Draft(database, 'org_1', 'c')
    await fill(draft, bytes, () => 70_000)
    const refused = new Change().check(['org_1', 'not there'], 7n)
    const first = draft.seal(refused)
    t.false((await database.commit(refused)).ok)
    const second = new Change()
    t.deepEqual(draft.seal(second), first)
    t.true((await database.commit(second)).ok)
    await draft.discard(true)
    t.is(sha256(await readWholeContent(database, 'org_1', first)), sha256(bytes))
    t.is(await sweepAbandonedContent(database), 0)
  })
}

for (const [before, after] of [
  [10, 20],
  [10, 2 * row + 5],
  [3 * row + 7, 20],
  [3 * row + 7, row + 1],
] as const) {
  test(`Draft.replace(): removes all rows of ${before} bytes and stores ${after} others`, async (t) => {
    const { database } = await databaseOf(t)
    const draft = new Draft(database, 'org_1', 'one')
    await fill(draft, bytesOf(before), () => 100_000)
    const bytes = bytesOf(after).reverse()
    await draft.replace(bytes)
    t.is(draft.size, after)
    const change = new Change()
    const ref = draft.seal(change)
    t.true((await database.commit(change)).ok)
    t.deepEqual(ref, { id: 'one', size: after, sha256: sha256(bytes), rows: Math.ceil(after / row) })
    t.deepEqual(Buffer.from(await readWholeContent(database, 'org_1', ref)), bytes)
    t.is((await keysOf(database)).length, ref.rows)
  })
}

test('sweepAbandonedContent(): removes only content that a crash left unfinished', async (t) => {
  const { database, folder } = await databaseOf(t)
  const kept = await accepted(database, 'kept', bytesOf(2 * row + 9), 50_000)
  const lost = new Draft(database, 'org_2', 'lost')
  await fill(lost, bytesOf(2 * row + 9), () => 50_000)

  const after = new Database(await openedBy(t, await crashCopy(t, folder)))
  t.is((await keysOf(after)).filter(([organization]) => organization === 'org_2').length, 2)
  t.is(await sweepAbandonedContent(after), 1)
  t.deepEqual([...new Set((await keysOf(after)).map((key) => key.slice(0, 3).join(' ')))], ['org_1 content kept'])
  t.is((await readWholeContent(after, 'org_1', kept)).length, kept.size)
  t.is(await sweepAbandonedContent(after), 0)
})

test('readContent(): reports a missing row', async (t) => {
  const { database } = await databaseOf(t)
  const ref = await accepted(database, 'c', bytesOf(row + 9))
  await database.commit(new Change().delete(['org_1', 'content', 'c', 1]))
  await t.throwsAsync(readWholeContent(database, 'org_1', ref), { message: 'content c lacks row 1' })
  await t.throwsAsync(readWholeContent(database, 'org_2', ref), { message: 'content c lacks row 0' })
})
