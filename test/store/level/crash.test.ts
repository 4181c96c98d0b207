/** State after a crash of the process or the machine: a copy of the folder of an open store, and its log cut at any place. */
import { cp, readdir, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { Change } from '#store/change.ts'
import { Draft, type ContentRef } from '#store/content.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { dequeue, enqueue, type QueueEntry } from '#store/queue.ts'
import { verify, type VerifyOptions } from '#store/verify/verify.ts'
import { Seeded } from '../../support/seeded.ts'
import { pet, pets, type Pet } from '../kinds.ts'
import { crashCopy, folderOf, openedBy, storeOf } from './folders.ts'

const options = { maxInline: 2000 }
const reach = { organizationId: 'org_1' }
const entryOf = (id: string): QueueEntry => ({
  destinationId: 'dst_1',
  projectId: 'prj_1',
  dueMs: 7,
  traceId: id,
  organizationId: 'org_1',
  attempts: 0,
})

/** Content with bytes that follow from its size, so that its reference needs no records. */
async function add(database: Database, id: string, size: number): Promise<{ id: string; ref: ContentRef }> {
  const draft = new Draft(database, 'org_1', id)
  await draft.write(Buffer.alloc(size, id))
  const change = enqueue(new Change(), entryOf(id)).insert(pets, 'org_1', pet(id))
  const ref = draft.seal(change)
  if (!(await database.commit(change)).ok) throw new Error(`${id} was refused`)
  return { id, ref }
}

/** Checks all relations: index rows, contents and their pets, queue entries and their pets (grey pets are queued). */
const checks = (database: Database, refs: ReadonlyMap<string, ContentRef>): VerifyOptions => ({
  kinds: [pets],
  contents: {
    of: (_, __, record) => [refs.get((record as Pet).id)].filter((ref) => ref !== undefined),
    owner: async (_, id) => ((await database.get(pets, reach, id)) ? refs.get(id) : undefined),
  },
  async checkQueueEntry({ traceId }) {
    const stored = await database.get(pets, reach, traceId)
    return stored?.record.colours[0] === 'grey' ? [] : ['its pet is not queued.']
  },
})

const deliver = async (database: Database, id: string): Promise<unknown> => {
  const stored = await database.get(pets, reach, id)
  if (!stored) throw new Error(`${id} is not there`)
  const change = dequeue(new Change(), entryOf(id)).replace(pets, 'org_1', stored, { ...stored.record, colours: ['white'] })
  return database.commit(change)
}

test('LevelKv: a copy of the open files has all acknowledged writes, consistently', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  const database = new Database(kv)
  const seeded = new Seeded('crash copy')
  const refs = new Map<string, ContentRef>()
  const delivered = new Set<string>()
  for (let round = 0; round < 5; round++) {
    const sizes = Array.from({ length: 30 }, () => seeded.pick([10, 1500, 5000, 300_000]))
    const added = await Promise.all(sizes.map((size, i) => add(database, `pet_${round}_${i}`, size)))
    for (const { id, ref } of added) refs.set(id, ref)
    const done = added.filter(() => seeded.chance(0.5)).map(({ id }) => id)
    await Promise.all(done.map((id) => deliver(database, id)))
    for (const id of done) delivered.add(id)

    const copy = new Database(await openedBy(t, await crashCopy(t, folder), options))
    const stored = await copy.all(pets, reach)
    const idsOf = (rows: typeof stored): string[] => rows.map(({ record }) => record.id)
    t.deepEqual(idsOf(stored), [...refs.keys()].toSorted(), 'ledger: acknowledged records')
    t.deepEqual(idsOf(stored.filter(({ record }) => record.colours[0] === 'white')), [...delivered].toSorted(), 'ledger: delivered records')
    const report = await verify(copy, checks(copy, refs))
    t.like(report, { records: refs.size, contents: refs.size, queueEntries: refs.size - delivered.size, problems: [] }, 'ledger: verify')
  }
})

test('LevelKv: a log cut at any byte leaves a prefix of whole writes', async (t) => {
  const { kv, folder } = await storeOf(t, options)
  const database = new Database(kv)
  const seeded = new Seeded('cut')
  const refs = new Map<string, ContentRef>()
  const log = join(folder, 'records', (await readdir(join(folder, 'records'))).find((name) => name.endsWith('.log')) ?? '')
  /** Sizes of the log after each acknowledgement. */
  const acknowledged: number[] = []
  for (let i = 0; i < 40; i++) {
    const { id, ref } = await add(database, `pet_${i}`, seeded.pick([10, 1500, 1900, 5000]))
    refs.set(id, ref)
    acknowledged.push((await stat(log)).size)
    if (i % 3 === 2) await deliver(database, `pet_${i - 1}`)
  }
  const { size } = await stat(log)
  const cuts = [0, 1, 6, 7, 8, size - 1, size, ...acknowledged.slice(0, 6), ...Array.from({ length: 40 }, () => seeded.between(0, size))]
  for (const cut of cuts) {
    const copy = await folderOf(t)
    await cp(folder, copy, { recursive: true })
    await truncate(log.replace(folder, copy), cut)
    await using again = await LevelKv.open(copy, options)
    const after = new Database(again)
    const ids = (await after.all(pets, reach)).map(({ record }) => record.id)
    const least = acknowledged.filter((end) => end <= cut).length
    t.deepEqual(ids, [...refs.keys()].slice(0, ids.length).toSorted(), `ledger: cut at ${cut}`)
    t.true(ids.length >= least, `ledger: cut at ${cut}: ${ids.length} of at least ${least}`)
    t.deepEqual((await verify(after, { ...checks(after, refs), missingGroups: again.missingGroups })).problems, [], `ledger: cut at ${cut}`)
  }
})
