import test, { type ExecutionContext } from '#test'
import { Change } from '#store/change.ts'
import { CursorInvalid } from '#store/cursor.ts'
import { Database, type ListOptions, type Visibility } from '#store/database.ts'
import { pack } from '#store/tuple.ts'
import { fixtures, keysOf, pet, pets, type Pet } from './kinds.ts'
import { storeOf } from './level/folders.ts'
import { column } from '../support/column.ts'

const org: Visibility = { organizationId: 'org_1' }
const databaseOf = async (t: ExecutionContext): Promise<Database> => new Database((await storeOf(t)).kv)
const insert = (database: Database, ...records: readonly Pet[]) =>
  database.commit(records.reduce((change, record) => change.insert(pets, 'org_1', record), new Change()))

/** Reads all pages. `between` may change the list before each further page. */
async function pages(
  database: Database,
  reach: Visibility,
  options: ListOptions,
  between?: (page: number) => Promise<unknown>,
): Promise<string[][]> {
  const found: string[][] = []
  let cursor: string | undefined
  do {
    const page = await database.list(pets, reach, { ...options, cursor })
    found.push(page.rows.map(({ record }) => record.id))
    cursor = page.nextCursor
    await between?.(found.length)
  } while (cursor !== undefined)
  return found
}

test('Change.insert(): writes only the record and its index rows', async (t) => {
  const database = await databaseOf(t)
  t.like(await insert(database, pet('pet_1', { colours: ['red', 'white'], born: 5 })), { ok: true })
  t.deepEqual(await keysOf(database), [
    ['', 'pet@tag', 'tag of pet_1'],
    ['org_1', 'pet', 'pet_1'],
    ['org_1', 'pet!name', 'name of pet_1'],
    ['org_1', 'pet#born', 5, 'pet_1'],
    ['org_1', 'pet#colour', 'red', 5, 'pet_1'],
    ['org_1', 'pet#colour', 'white', 5, 'pet_1'],
  ])
})

test('Database: get() and find() need the organization; lookup() does not', async (t) => {
  const database = await databaseOf(t)
  const record = pet('pet_1')
  await insert(database, record)
  t.deepEqual((await database.get(pets, org, 'pet_1'))?.record, record)
  t.deepEqual((await database.find(pets, org, 'name', ['name of pet_1']))?.record, record)
  t.like(await database.lookup(pets, 'tag', ['tag of pet_1']), { record, organizationId: 'org_1' })
  const other = { organizationId: 'org_2' }
  t.is(await database.get(pets, other, 'pet_1'), undefined)
  t.is(await database.find(pets, other, 'name', ['name of pet_1']), undefined)
  t.is(await database.find(pets, org, 'name', ['name of']), undefined)
  t.is(await database.lookup(pets, 'tag', ['another']), undefined)
})

test('Change.insert(): conflicts on used ids and unique values, and lookups anywhere', async (t) => {
  const database = await databaseOf(t)
  await insert(database, pet('pet_1'))
  for (const taken of [
    pet('pet_1', { name: 'n', tag: 't' }),
    pet('pet_2', { name: 'name of pet_1' }),
    pet('pet_2', { tag: 'tag of pet_1' }),
  ]) {
    t.like(await insert(database, taken), { ok: false, reason: 'conflict' })
  }
  const same = new Change().insert(pets, 'org_2', pet('pet_1', { tag: 'other tag' }))
  t.true((await database.commit(same)).ok, 'each organization has separate ids and names')
  const abroad = new Change().insert(pets, 'org_2', pet('pet_9', { tag: 'tag of pet_1' }))
  t.like(await database.commit(abroad), { ok: false, reason: 'conflict', key: pack(['', 'pet@tag', 'tag of pet_1']) })
})

test('Change.insertCold(): skips the look-up of the id but checks unique values', async (t) => {
  const database = await databaseOf(t)
  const change = new Change().insertCold(pets, 'org_1', pet('pet_1', { name: 'Rex', tag: 't1' }))
  t.is(change.checks.length, 2)
  t.true((await database.commit(change)).ok)
  t.is((await database.find(pets, org, 'name', ['Rex']))?.record.id, 'pet_1')
  t.like(await database.commit(new Change().insertCold(pets, 'org_1', pet('pet_2', { name: 'Rex', tag: 't2' }))), { ok: false })
})

test('Change.insertUnchecked() writes without a look-up of the id', async (t) => {
  const database = await databaseOf(t)
  const change = new Change().insertUnchecked(fixtures, 'org_1', { id: 'hse_1', street: 'High' })
  t.is(change.checks.length, 0)
  t.true((await database.commit(change)).ok)
  t.is((await database.get(fixtures, org, 'hse_1'))?.record.street, 'High')
})

test('Change.replace() moves exactly the index rows that changed', async (t) => {
  const database = await databaseOf(t)
  await insert(database, pet('pet_1', { colours: ['red', 'white'], born: 5 }))
  const stored = await database.get(pets, org, 'pet_1')
  if (!stored) return t.fail()
  const change = new Change().replace(pets, 'org_1', stored, { ...stored.record, colours: ['white', 'black'], name: 'Rex' })
  t.is(change.sets.length, 3, 'the record, one colour, one name')
  t.is(change.deletes.length, 2)
  t.true((await database.commit(change)).ok)
  t.deepEqual(await keysOf(database), [
    ['', 'pet@tag', 'tag of pet_1'],
    ['org_1', 'pet', 'pet_1'],
    ['org_1', 'pet!name', 'Rex'],
    ['org_1', 'pet#born', 5, 'pet_1'],
    ['org_1', 'pet#colour', 'black', 5, 'pet_1'],
    ['org_1', 'pet#colour', 'white', 5, 'pet_1'],
  ])
  t.is(await database.find(pets, org, 'name', ['name of pet_1']), undefined)
})

test('Change.replace(), remove(): conflict after a change or on a used name', async (t) => {
  const database = await databaseOf(t)
  await insert(database, pet('pet_1'), pet('pet_2'))
  const stored = await database.get(pets, org, 'pet_1')
  if (!stored) return t.fail()
  const renamed = new Change().replace(pets, 'org_1', stored, { ...stored.record, name: 'name of pet_2' })
  t.like(await database.commit(renamed), { ok: false, reason: 'conflict' })
  t.true((await database.commit(new Change().replace(pets, 'org_1', stored, { ...stored.record, born: 1 }))).ok)
  t.like(await database.commit(new Change().replace(pets, 'org_1', stored, { ...stored.record, born: 2 })), { ok: false })
  t.like(await database.commit(new Change().remove(pets, 'org_1', stored)), { ok: false, reason: 'conflict' })
  t.is((await database.get(pets, org, 'pet_1'))?.record.born, 1)
})

test('Change.remove(): deletes the record and all index rows', async (t) => {
  const database = await databaseOf(t)
  await insert(database, pet('pet_1', { colours: ['red', 'white'] }))
  const stored = await database.get(pets, org, 'pet_1')
  if (!stored) return t.fail()
  t.true((await database.commit(new Change().remove(pets, 'org_1', stored))).ok)
  t.deepEqual(await keysOf(database), [])
})

test('Change.setNew(), check(): prevent a write', async (t) => {
  const database = await databaseOf(t)
  const key = ['org_1', 'once']
  t.true((await database.commit(new Change().setNew(key, Buffer.from('1')))).ok)
  t.like(await database.commit(new Change().setNew(key, Buffer.from('2'))), { ok: false, reason: 'conflict' })
  const version = (await database.kv.get(pack(key)))?.version
  t.true((await database.commit(new Change().check(key, version).set(key).delete(['org_1', 'gone']))).ok)
  t.like(await database.commit(new Change().check(key, version).set(key)), { ok: false })
})

test('Change.add() counts, with and without a limit', async (t) => {
  const database = await databaseOf(t)
  const key = ['org_1', 'counter', 'sends']
  t.true((await database.commit(new Change().add(key, 2).add(key, 1, 3))).ok)
  t.like(await database.commit(new Change().add(key, 1, 3)), { ok: false, reason: 'limit', key: pack(key) })
  t.is(await database.kv.counter(pack(key)), 3)
})

test('Database.generation(): grows only with settings of its organization', async (t) => {
  const database = await databaseOf(t)
  t.is(database.generation('org_1'), 0)
  await insert(database, pet('pet_1'))
  t.is(database.generation('org_1'), 0)
  const fixture = new Change().insert(fixtures, 'org_1', { id: 'hse_1', street: 'High' })
  await database.commit(fixture)
  t.is(database.generation('org_1'), 1)
  t.is(database.generation('org_2'), 0)
  t.false((await database.commit(fixture)).ok)
  t.is(database.generation('org_1'), 1, 'a refused write changes no setting')
})

test('Database.onWork(): reports work of durable changes, not of refused ones', async (t) => {
  const database = await databaseOf(t)
  const heard: string[][] = []
  database.onWork('walker', (places) => heard.push([...places]))
  const change = new Change()
    .insert(pets, 'org_1', pet('pet_1'))
    .schedule('walker', 'park')
    .schedule('walker', 'lake')
    .schedule('walker', 'park')
  const committed = database.commit(change.schedule('nobody', 'street'))
  t.deepEqual(heard, [])
  t.true((await committed).ok)
  t.deepEqual(heard, [['park', 'lake']])
  t.false((await database.commit(change)).ok)
  t.is(heard.length, 1)
})

test('Database.list(): pages by id or index, in both directions', async (t) => {
  const database = await databaseOf(t)
  const ids = Array.from({ length: 7 }, (_, i) => `pet_${i}`)
  await insert(database, ...ids.map((id, i) => pet(id, { born: 100 - i, colours: i % 2 ? ['grey'] : ['grey', 'red'] })))
  t.deepEqual(await pages(database, org, { limit: 3, ascending: true }), [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  t.deepEqual((await pages(database, org, { limit: 4 })).flat(), ids.toReversed())
  t.deepEqual((await pages(database, org, { limit: 2, index: 'born' })).flat(), ids)
  t.deepEqual((await pages(database, org, { limit: 2, index: 'born', ascending: true })).flat(), ids.toReversed())
  t.deepEqual((await pages(database, org, { limit: 1, index: 'colour', values: ['red'] })).flat(), ['pet_0', 'pet_2', 'pet_4', 'pet_6'])
  t.deepEqual(await pages(database, org, { limit: 7 }), [ids.toReversed()], 'no cursor to an empty page')
  t.deepEqual(await pages(database, { organizationId: 'org_2' }, { limit: 5 }), [[]])
})

for (const ascending of [true, false]) {
  test(`Database.list(): shows each record once during inserts and deletes, ${ascending ? 'ascending' : 'descending'}`, async (t) => {
    const database = await databaseOf(t)
    const ids = Array.from({ length: 9 }, (_, i) => `pet_${i}5`)
    await insert(database, ...ids.map((id) => pet(id)))
    const found = await pages(database, org, { limit: 2, ascending }, async (page) => {
      await insert(database, pet(`pet_00_${page}`), pet(`pet_99_${page}`))
      const last = await database.get(pets, org, onCursor(page, ids, ascending))
      if (last) await database.commit(new Change().remove(pets, 'org_1', last))
    })
    const own = found.flat().filter((id) => ids.includes(id))
    t.deepEqual(own, ascending ? ids : ids.toReversed())
    t.is(new Set(found.flat()).size, found.flat().length)
  })
}
/** Returns the record at the cursor of the page. */
const onCursor = (page: number, ids: readonly string[], ascending: boolean): string =>
  (ascending ? ids : ids.toReversed())[page * 2 - 1] ?? ''

test('Database.list(): refuses cursors of other lists, truncated and invented ones', async (t) => {
  const database = await databaseOf(t)
  await insert(database, ...['pet_1', 'pet_2', 'pet_3'].map((id) => pet(id)))
  const { nextCursor: byIndex = '' } = await database.list(pets, org, { index: 'born', limit: 1 })
  const { nextCursor: byId = '' } = await database.list(pets, org, { limit: 1 })
  const cut = [1, 2, 3, 4].map((length) => byId.slice(0, -length))
  for (const cursor of [byIndex, ...cut, `${byId}A`, `${byId}%`, 'AAAA', '', '%%%'])
    for (const ascending of [true, false]) {
      await t.throwsAsync(database.list(pets, org, { limit: 1, cursor, ascending }), { instanceOf: CursorInvalid }, cursor)
    }
  await t.throwsAsync(database.list(pets, { organizationId: 'org_2' }, { limit: 1, cursor: byId }), { instanceOf: CursorInvalid })
  t.deepEqual((await database.list(pets, org, { limit: 1, cursor: byId })).rows[0]?.record.id, 'pet_2')
})

test('Database: a bound scope sees no records of other projects', async (t) => {
  const database = await databaseOf(t)
  await insert(database, ...Array.from({ length: 6 }, (_, i) => pet(`pet_${i}`, { project: i % 2 ? 'prj_b' : 'prj_a' })))
  await database.commit(new Change().insert(fixtures, 'org_1', { id: 'hse_1', street: 'High' }))
  const bound: Visibility = { ...org, projectId: 'prj_b', bound: true }
  t.is(await database.get(pets, bound, 'pet_0'), undefined)
  t.is(await database.find(pets, bound, 'name', ['name of pet_0']), undefined)
  t.truthy(await database.get(pets, bound, 'pet_1'))
  t.truthy(await database.get(fixtures, bound, 'hse_1'), 'a record without a project is visible')
  t.deepEqual((await pages(database, bound, { limit: 2, ascending: true })).flat(), ['pet_1', 'pet_3', 'pet_5'])
  t.deepEqual((await pages(database, bound, { limit: 2, index: 'colour', ascending: true })).flat(), ['pet_1', 'pet_3', 'pet_5'])
  t.deepEqual(column(await database.all(pets, bound), 'record', 'id'), ['pet_1', 'pet_3', 'pet_5'])
  t.is((await database.all(pets, { ...org, projectId: 'prj_b' })).length, 6, 'an unbound project hides no records')
})

test('Database.sweep(): deletes only due keys, in steps', async (t) => {
  const database = await databaseOf(t)
  const change = new Change()
  for (let i = 0; i < 25; i++) change.set(['org_1', 'nonce', i]).expire(1000 + i, ['org_1', 'nonce', i])
  await database.commit(change)
  t.is(await database.sweep(1000), 0, 'no key is due yet')
  t.is(await database.sweep(1020, 3), 20)
  t.deepEqual(
    (await keysOf(database)).map((key) => key[2]),
    [1020, 1021, 1022, 1023, 1024, 20, 21, 22, 23, 24],
  )
  t.is(await database.sweep(9999), 5)
  t.deepEqual(await keysOf(database), [])
})

test('Database.sweep(): keeps a key written again until its new time', async (t) => {
  const database = await databaseOf(t)
  const key = ['org_1', 'idempotency', 'a']
  await database.commit(new Change().set(key, Buffer.from('1')).expire(1000, key))
  await database.commit(new Change().set(key, Buffer.from('2')).expire(2000, key))
  t.is(await database.sweep(1500), 1)
  t.deepEqual(Buffer.from((await database.kv.get(pack(key)))?.value ?? []).toString(), '2')
  await database.sweep(2500)
  t.deepEqual(await keysOf(database), [])
})

test('Database.sweep(): deletes counters and skips deleted keys', async (t) => {
  const database = await databaseOf(t)
  const counter = ['org_1', 'counter', 'rate', 7]
  await database.commit(new Change().add(counter, 4).expire(10, counter).expire(11, counter).expire(10, ['org_1', 'never there']))
  t.is(await database.sweep(100), 3)
  t.is(await database.kv.counter(pack(counter)), 0)
  t.deepEqual(await keysOf(database), [])
})

test('Database.isEmpty(): finds every record during concurrent writes', async (t) => {
  const database = await databaseOf(t)
  const often = { ...pets, isOftenEmpty: true }
  for (let i = 0; i < 200; i++) {
    const organizationId = `org_${i}`
    const write = database.commit(new Change().insert(often, organizationId, pet(`pet_${i}`)))
    const asking = [database.isEmpty(often, organizationId), write.then(() => database.isEmpty(often, organizationId))]
    if (i % 2) await Promise.all(asking)
    t.true((await write).ok)
    t.false(await asking[1])
    await Promise.all(asking)
    t.false(await database.isEmpty(often, organizationId))
  }
})

test('Database.isEmpty(): reads an empty kind only once', async (t) => {
  const database = await databaseOf(t)
  const often = { ...pets, isOftenEmpty: true }
  t.true(await database.isEmpty(often, 'org_1'))
  Object.defineProperty(database.kv, 'range', { value: () => t.fail('looked again') })
  t.true(await database.isEmpty(often, 'org_1'))
})

test('Database: a scope without some projects sees none of their records', async (t) => {
  const database = await databaseOf(t)
  await insert(database, pet('pet_1'), pet('pet_2', { project: 'prj_b' }), pet('pet_3'))
  const without: Visibility = { ...org, hiddenProjects: new Set(['prj_b']) }
  t.is(await database.get(pets, without, 'pet_2'), undefined)
  t.is(await database.find(pets, without, 'name', ['name of pet_2']), undefined)
  t.deepEqual(await database.findMany(pets, without, 'name', [['name of pet_2'], ['name of pet_1']]), [
    undefined,
    await database.get(pets, org, 'pet_1'),
  ])
  t.deepEqual(await pages(database, without, { limit: 5 }), [['pet_3', 'pet_1']])
  t.deepEqual(await pages(database, without, { limit: 5, index: 'colour', values: ['grey'] }), [['pet_3', 'pet_1']])
  t.deepEqual(column(await database.all(pets, without), 'record', 'id'), ['pet_1', 'pet_3'])
  t.is(await database.get(pets, { ...without, bound: true, projectId: 'prj_b' }, 'pet_2'), undefined)
})
