/** Copies of a store into a database during writes of every kind: a finished copy equals the store; otherwise no copy is in use. */
import { mkdir, readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { digestRows } from '#store/engine/row-digest.ts'
import type { SnapshotRow } from '#store/engine/snapshot.ts'
import type { StoreKv } from '#store/engine/store-kv.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { notePastBackup } from '#store/backup/past-backups.ts'
import { FolderObjects } from '#store/postgresql/objects/folder-objects.ts'
import { LargeValues } from '#store/postgresql/objects/large-values.ts'
import { ObjectSweep } from '#store/postgresql/objects/object-sweep.ts'
import { PostgresKv } from '#store/postgresql/postgres-kv.ts'
import { parseStoreAddress } from '#store/postgresql/address.ts'
import { Servers } from '#store/postgresql/servers.ts'
import { copiedAhead, copyAhead, finishCopy, writeRestoredDatabase, type CopyTarget } from '#store/postgresql/restored-store.ts'
import type { Write } from '#store/kv.ts'
import { Seeded } from '../support/seeded.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { onPostgresql } from './postgresql/on-server.ts'

const { test, postgresql } = onPostgresql()
/** Sizes of values in LevelDB, in its value log, in rows of the database, and in objects. */
const sizes = [0, 20, 90, 300, 3000]
const [levelOptions, leastBytes] = [{ maxInline: 64, segmentBytes: 20_000 }, 1000]
const beforeUse = async (): Promise<void> => {}

test('copy ahead: the finished copy equals the store after writes of every kind', async (t) => {
  const random = new Seeded(process.env['POSTERN_SEED'] ?? 20_261_128)
  for (let round = 0; round < 4; round++) {
    await using folder = await temporaryFolder('ahead')
    const target = await targetIn(folder.path)
    let kv = await LevelKv.open(join(folder.path, 'store'), levelOptions)
    await storm(kv, random, 150)
    await ahead(kv, target, 'first', () => storm(kv, random, 3))
    if (random.chance(0.5)) await ahead(kv, target, 'second', () => storm(kv, random, 3))
    await storm(kv, random, random.between(0, 150))
    await kv.collect()
    await kv[Symbol.asyncDispose]()
    kv = await LevelKv.open(join(folder.path, 'store'), levelOptions)
    await storm(kv, random, 5)
    const { rows } = await finish(kv, target)
    await assertSame(t, kv, target, rows)
    await kv[Symbol.asyncDispose]()
  }
})

test('copy ahead: a copy changed after its comparison is refused', async (t) => {
  await using folder = await temporaryFolder('changed')
  await using kv = await LevelKv.open(join(folder.path, 'store'), levelOptions)
  await storm(kv, new Seeded(7), 60)
  const target = await targetIn(folder.path)
  const one = 'key = (SELECT key FROM postern_rows_restored ORDER BY key LIMIT 1)'
  const changes = [
    `DELETE FROM postern_rows_restored WHERE ${one}`,
    `UPDATE postern_rows_restored SET stored = stored || '\\x00' WHERE ${one}`,
    `UPDATE postern_rows_restored SET stored = set_byte(stored, 8, get_byte(stored, 8) # 1) WHERE ${one}`,
  ]
  for (const change of changes) {
    await ahead(kv, target, 'changed')
    await inDatabase(target, change)
    await t.throwsAsync(finish(kv, target), { name: 'StoreUnavailable', message: /start again with --ahead/ }, change)
    t.deepEqual(await inDatabase(target, 'SELECT FROM postern_rows'), [], 'nothing is in use')
  }
  await ahead(kv, target, 'added to')
  await inDatabase(target, `INSERT INTO postern_rows_restored VALUES ('\\x00', '\\x00000000000000000100')`)
  const { rows } = await finish(kv, target)
  await assertSame(t, kv, target, rows)
})

test('copy ahead: a sweep keeps its objects, and no daemon starts on it', async (t) => {
  await using folder = await temporaryFolder('kept')
  await using kv = await LevelKv.open(join(folder.path, 'store'), levelOptions)
  await storm(kv, new Seeded(9), 60)
  const target = await targetIn(folder.path)
  await ahead(kv, target, 'kept')
  await t.throwsAsync(PostgresKv.open(target.address, { use: 'together', large: target.large }), {
    name: 'StoreUnavailable',
    message: /contains an unfinished copy\. Run postern migrate again without --ahead/,
  })
  const objects = join(folder.path, 'objects')
  const old = new Date(Date.now() - 10 * 86_400_000)
  for (const name of await readdir(objects, { recursive: true })) await utimes(join(objects, name), old, old)
  t.is(await sweep(target), 0)
  const { rows } = await finish(kv, target)
  await assertSame(t, kv, target, rows)
  await using daemon = await PostgresKv.open(target.address, { use: 'together', large: target.large })
  t.truthy(daemon)
})

test('copy: a failure reports the next step and keeps the rows in use', async (t) => {
  await using folder = await temporaryFolder('broken')
  await using kv = await LevelKv.open(join(folder.path, 'store'), levelOptions)
  await storm(kv, new Seeded(11), 60)
  const target = await targetIn(folder.path)
  const cut = async (): Promise<void> => {
    await inDatabase(
      target,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'postern restore'`,
    )
  }
  const message =
    /^The copy into the database at postgresql:.* failed: .*\. The data in use there is unchanged\. .* run the command again\.$/
  await t.throwsAsync(ahead(kv, target, 'cut', cut), { name: 'StoreUnavailable', message })
  t.is(await copiedAhead(target), undefined)
  {
    await using snapshot = kv.snapshot()
    await t.throwsAsync(writeRestoredDatabase(target, interrupted(snapshot.rows, cut), beforeUse), { name: 'StoreUnavailable', message })
  }
  await ahead(kv, target, 'whole')
  await t.throwsAsync(finish(kv, target, cut), {
    name: 'StoreUnavailable',
    message: /did not respond to the last step .*Run the command again/,
  })
  await t.throwsAsync(
    finish(kv, target, () => Promise.reject(new Error('no space'))),
    { message: 'no space' },
  )
  const { rows } = await finish(kv, target)
  await assertSame(t, kv, target, rows)
})

async function targetIn(folder: string): Promise<CopyTarget & { readonly large: NonNullable<CopyTarget['large']> }> {
  const objects = join(folder, 'objects')
  await mkdir(objects)
  return { address: await postgresql().database(), mayReplace: false, large: { objects: new FolderObjects(objects), leastBytes } }
}

/** Concurrent writes with few keys, so that they often meet in one group. */
async function storm(kv: StoreKv, random: Seeded, writes: number): Promise<void> {
  for (let left = writes; left > 0;) {
    const together = Math.min(left, random.between(1, 6))
    left -= together
    await Promise.all(Array.from({ length: together }, () => kv.write(anyWrite(random))))
  }
}

function anyWrite(random: Seeded): Write {
  const keyOf = (kind: string, many: number): Buffer => Buffer.from(`${kind}${random.between(1, many)}`)
  const some = <One>(most: number, make: () => One): One[] => Array.from({ length: random.between(0, most) }, make)
  return {
    checks: [],
    deletes: [...some(2, () => keyOf('value', 60)), ...(random.chance(0.05) ? [keyOf('counter', 5), keyOf('tally', 3)] : [])],
    sets: some(4, () => ({ key: keyOf('value', 60), value: Buffer.alloc(random.pick(sizes), random.between(0, 255)) })),
    adds: some(2, () => ({ key: keyOf('counter', 5), delta: random.between(-3, 5) })),
    tallies: some(1, () => ({ key: keyOf('tally', 3), names: [`name ${random.between(1, 9)}`] })),
  }
}

async function* interrupted(rows: AsyncIterable<SnapshotRow>, between: () => Promise<unknown>): AsyncGenerator<SnapshotRow> {
  let number = 0
  for await (const row of rows) {
    if (number++ % 20 === 10) await between()
    yield row
  }
}

async function ahead(kv: StoreKv, target: CopyTarget, id: string, between: () => Promise<unknown> = async () => {}): Promise<void> {
  await notePastBackup(kv, id, Date.now())
  await using snapshot = await kv.snapshot()
  await copyAhead(target, interrupted(snapshot.rows, between), { id, until: snapshot.version })
}

async function finish(kv: StoreKv, target: CopyTarget, before = beforeUse): ReturnType<typeof finishCopy> {
  const first = await copiedAhead(target)
  if (!first) throw new Error('there is no copy made ahead')
  await using snapshot = await kv.snapshot(first.until)
  return await finishCopy(target, snapshot, first, before)
}

async function assertSame(t: ExecutionContext, kv: StoreKv, target: CopyTarget, rows: number): Promise<void> {
  await using copy = await PostgresKv.open(target.address, { use: 'alone', large: target.large })
  await using expected = await kv.snapshot()
  await using found = await copy.snapshot()
  const digest = await digestRows(found.rows)
  t.deepEqual(digest, await digestRows(expected.rows))
  t.is(digest.rows, rows)
  const { ok, ...written } = await copy.write({
    checks: [],
    sets: [{ key: Buffer.from('later'), value: Buffer.of(1) }],
    deletes: [],
    adds: [],
  })
  t.true(ok && 'version' in written && written.version > expected.version, 'versions go on')
}

async function sweep({ address, large }: CopyTarget): Promise<number | undefined> {
  const servers = new Servers(parseStoreAddress(address), 0)
  const client = await servers.connect('postern test')
  try {
    return large && (await new ObjectSweep(servers, await LargeValues.open(client, large)).sweep())
  } finally {
    await client.end()
  }
}

const inDatabase = ({ address }: CopyTarget, text: string) => postgresql().query(text, address.split('/').at(-1))
