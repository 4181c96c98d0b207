/** Numbered steps of an upgrade: in order, once, from any place of a crash, and never on a newer store. */
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Change, encode } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { migrate, type Migration, type MigrationNews } from '#store/upgrade/migrate.ts'
import { formatKey, formOf, requireReadable, whyNewer } from '#store/upgrade/store-form.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { CuttableKv } from '../support/cuttable-kv.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder('migrate')
  t.teardown(() => folder[Symbol.asyncDispose]())
  return join(folder.path, 'store')
}

/** Moves rows of one family to the next, three in each write, and can continue at any place. */
const moving = (from: string, to: string): Migration => ({
  name: `${from} become ${to}`,
  async run(database, progress) {
    for (let done = 0; ;) {
      const change = new Change()
      for await (const { key, value } of database.kv.range({ ...within(['org_1', from]), limit: 3 })) {
        const id = String(unpack(key)[2])
        change.delete(['org_1', from, id]).set(['org_1', to, id], Buffer.concat([value, Buffer.from(to)]))
        done++
      }
      if (change.sets.length === 0) return done
      await database.commit(change)
      progress(done)
    }
  },
})
const steps = [moving('a', 'b'), moving('b', 'c'), moving('c', 'd')]

async function fill(database: Database, rows: number): Promise<void> {
  const change = new Change()
  for (let i = 0; i < rows; i++) change.set(['org_1', 'a', `row${i}`], Buffer.from('a'))
  await database.commit(change)
}

const families = async ({ kv }: Database): Promise<string[]> => {
  const found: string[] = []
  for await (const { key, value } of kv.range(within(['org_1']))) found.push(`${String(unpack(key)[1])} ${Buffer.from(value).toString()}`)
  return found
}

test('migrate(): runs and reports missing steps in order, and only once', async (t) => {
  await using kv = await LevelKv.open(await folderOf(t))
  const database = new Database(kv)
  await fill(database, 7)
  await database.commit(new Change().set(formatKey, encode(0)))
  const told: MigrationNews[] = []
  await migrate(database, steps.slice(0, 1), () => {})
  await migrate(database, steps, (news) => told.push(news))
  t.deepEqual(
    told.map(({ number, of, state, done }) => `${number}/${of} ${state} ${done}`),
    [2, 3].flatMap((step) => [`${step}/3 begun 0`, ...[3, 6, 7].map((done) => `${step}/3 going ${done}`), `${step}/3 ended 7`]),
  )
  t.deepEqual(await families(database), Array(7).fill('d abcd'))
  t.is((await formOf(kv)).format, 3)
  await migrate(database, steps, () => t.fail('no step is missing'))
})

test('migrate(): has the same result after a crash at any write', async (t) => {
  const folder = await folderOf(t)
  let crashes = 0
  {
    await using kv = await LevelKv.open(folder)
    await fill(new Database(kv), 7)
  }
  for (let isDone = false; !isDone;) {
    await using kv = await LevelKv.open(folder)
    const cuttable = new CuttableKv(kv)
    let left = 2 // each life permits one write
    const cut = Promise.withResolvers<void>()
    cuttable.beforeWrite = () => {
      if (--left > 0) return
      cut.resolve(cuttable.cut())
    }
    const run = migrate(new Database(cuttable), steps, () => {}).then(() => (isDone = true))
    await Promise.race([run, cut.promise])
    if (!isDone) crashes++
  }
  await using kv = await LevelKv.open(folder)
  t.deepEqual(await families(new Database(kv)), Array(7).fill('d abcd'))
  t.is((await formOf(kv)).format, 3)
  t.is(crashes, 11, 'each of the twelve writes was the last one before a crash')
})

test('migrate(): a new store gets the newest format; a newer one is not changed', async (t) => {
  await using kv = await LevelKv.open(await folderOf(t))
  const database = new Database(kv)
  await migrate(database, steps, () => t.fail('a new store has no rows to migrate'))
  t.is((await formOf(kv)).format, 3)
  const before = (await kv.get(pack(formatKey)))?.version
  await t.throwsAsync(requireReadable(kv, { format: 2, kinds: {} }), {
    name: 'StoreUnavailable',
    message:
      'The store was written by a newer release, in format 3: this one knows formats up to 2. Start that release, or restore a backup made before the upgrade.',
  })
  t.is((await kv.get(pack(formatKey)))?.version, before)
  t.is(whyNewer({ format: 3, kinds: { send: 2 } }, { format: 3, kinds: { send: 2 } }), undefined)
  t.regex(whyNewer({ format: 3, kinds: { send: 3 } }, { format: 3, kinds: { send: 2 } }) ?? '', /records of the kinds send\.$/)
})
