import test, { type ExecutionContext } from '#test'
import * as z from 'zod'
import { Change, decode } from '#store/change.ts'
import { claimVersions } from '#store/upgrade/claim-versions.ts'
import { Database } from '#store/database.ts'
import { defineRecord, recordKey, upgradeFrom } from '#store/record-kind.ts'
import { formOfRelease, requireReadable } from '#store/upgrade/store-form.ts'
import { verify } from '#store/verify/verify.ts'
import { fixtures, keysOf } from './kinds.ts'
import { storeOf } from './level/folders.ts'

const org = { organizationId: 'org_1' }
const first = z.strictObject({ id: z.string(), name: z.string() })
const second = z.strictObject({ id: z.string(), name: z.string(), nicknames: z.array(z.string()) })
const third = z.strictObject({ id: z.string(), name: z.string(), called: z.array(z.string()) })
const indexes = { name: ({ name }: { readonly name: string }) => [[name]] }
const nicknamed = upgradeFrom(first, (old) => ({ ...old, nicknames: [] }))
const called = upgradeFrom(second, ({ nicknames, ...old }) => ({ ...old, called: [...nicknames, old.name] }))
/** One kind in three releases. */
const dogs = defineRecord<z.infer<typeof first>>({ name: 'dog', schema: first, indexes })
const dogs2 = defineRecord<z.infer<typeof second>>({ name: 'dog', schema: second, upgrades: [nicknamed], indexes })
const dogs3 = defineRecord<z.infer<typeof third>>({ name: 'dog', schema: third, upgrades: [nicknamed, called], indexes })

const databaseOf = async (t: ExecutionContext): Promise<Database> => new Database((await storeOf(t)).kv)
const bytesOf = async ({ kv }: Database): Promise<unknown> =>
  decode((await kv.get(recordKey(dogs, 'org_1', 'dog_1')))?.value ?? Buffer.of())
const rex = { id: 'dog_1', name: 'Rex' }

test('record versions: only later versions than 1 store their number', async (t) => {
  const database = await databaseOf(t)
  await database.commit(new Change().insert(dogs, 'org_1', rex))
  t.deepEqual(await bytesOf(database), rex)
  const stored = await database.get(dogs2, org, 'dog_1')
  if (!stored) return t.fail()
  await database.commit(new Change().replace(dogs2, 'org_1', stored, { ...stored.record, nicknames: ['R'] }))
  t.deepEqual(await bytesOf(database), [2, { ...rex, nicknames: ['R'] }])
  t.deepEqual((await database.get(dogs2, org, 'dog_1'))?.record, { ...rex, nicknames: ['R'] })
})

test('record versions: every read upgrades; a write stores the current version', async (t) => {
  const database = await databaseOf(t)
  await database.commit(new Change().insert(dogs, 'org_1', rex))
  const record = { ...rex, called: ['Rex'] }
  const stored = await database.get(dogs3, org, 'dog_1')
  t.deepEqual(stored?.record, record)
  t.deepEqual((await database.getMany(dogs3, org, ['dog_1']))[0]?.record, record)
  t.deepEqual((await database.all(dogs3, org))[0]?.record, record)
  t.deepEqual((await database.list(dogs3, org, { index: 'name', limit: 1 })).rows[0]?.record, record)
  t.deepEqual(await bytesOf(database), rex, 'a read writes nothing')
  t.deepEqual(await verify(database, { kinds: [dogs3] }), { records: 1, indexRows: 1, contents: 0, queueEntries: 0, problems: [] })
  if (!stored) return t.fail()
  await database.commit(new Change().replace(dogs3, 'org_1', stored, { ...stored.record, name: 'Max' }))
  t.deepEqual(await bytesOf(database), [3, { ...record, name: 'Max' }])
  t.deepEqual((await verify(database, { kinds: [dogs3] })).problems, [], 'the index row moved with the name')
})

test('record versions: a middle version needs only the last upgrade', async (t) => {
  const database = await databaseOf(t)
  await database.commit(new Change().insert(dogs2, 'org_1', { ...rex, nicknames: ['R'] }))
  t.deepEqual((await database.get(dogs3, org, 'dog_1'))?.record, { ...rex, called: ['R', 'Rex'] })
})

test('record versions: reads refuse a newer record, and verify reports it', async (t) => {
  const database = await databaseOf(t)
  await database.commit(new Change().insert(dogs3, 'org_1', { ...rex, called: [] }))
  const message = 'dog ["org_1","dog","dog_1"] was written by a newer release: in version 3, and this release reads versions up to 1.'
  await t.throwsAsync(database.get(dogs, org, 'dog_1'), { name: 'StoreFailure', message })
  const { problems } = await verify(database, {
    kinds: [dogs],
    counted: [{ kind: dogs, counter: () => ['org_1', 'dogs'], weigh: () => 1 }],
  })
  t.true(problems.includes(`dog ["org_1","dog","dog_1"]: it cannot be read: ${message}`), problems.join('\n'))
})

test('record versions: an invalid record or upgrade is an error with its key', async (t) => {
  const database = await databaseOf(t)
  await database.commit(new Change().insert(dogs, 'org_1', { ...rex, age: 3 } as typeof rex))
  const cannot = (version: number) => ({
    name: 'StoreFailure',
    message: `dog ["org_1","dog","dog_1"] is stored in version 1 and cannot be upgraded to version ${version}.`,
  })
  await t.throwsAsync(database.get(dogs3, org, 'dog_1'), cannot(3))
  const careless = defineRecord<z.infer<typeof second>>({ name: 'dog', schema: second, upgrades: [(old) => old] })
  await t.throwsAsync(database.get(careless, org, 'dog_1'), cannot(2))
  t.is((await verify(database, { kinds: [dogs3] })).problems.length, 2, 'the record, and its index row')
})

test('claimVersions(): prevents older releases, and writes nothing for version 1', async (t) => {
  const database = await databaseOf(t)
  await claimVersions(database, formOfRelease(0, [dogs, fixtures]))
  t.deepEqual(await keysOf(database), [])
  await claimVersions(database, formOfRelease(0, [dogs3, fixtures]))
  await claimVersions(database, formOfRelease(0, [dogs3, fixtures]))
  t.deepEqual(await keysOf(database), [['', 'versions']])
  t.deepEqual((await verify(database, { kinds: [dogs3] })).problems, [])
  for (const kinds of [[dogs2, fixtures], [fixtures]]) {
    await t.throwsAsync(requireReadable(database.kv, formOfRelease(0, kinds)), {
      name: 'StoreUnavailable',
      message:
        'The store was written by a newer release: this one cannot read its records of the kinds dog. ' +
        'Start that release, or restore a backup made before the upgrade.',
    })
  }
})
