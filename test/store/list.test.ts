/** Lists by index: each page equals the result of one look-up for each row, with a limited number of reads. */
import test, { type ExecutionContext } from '#test'
import { Change } from '#store/change.ts'
import { Database, type ListOptions, type Page, type Visibility, type Sieve } from '#store/database.ts'
import type { Kv } from '#store/kv.ts'
import { indexPrefix, recordKey, type Stored } from '#store/record-kind.ts'
import { keyName, pack, unpack, within } from '#store/tuple.ts'
import { databaseWith, pet, pets, type Pet } from './kinds.ts'
import { storeOf } from './level/folders.ts'

const org: Visibility = { organizationId: 'org_1' }
const bound: Visibility = { ...org, projectId: 'prj_b', bound: true }
const idOf = (i: number): string => `pet_${String(i).padStart(4, '0')}`
const idsIn = ({ rows }: Page<Stored<Pet>>): string[] => rows.map(({ record }) => record.id)

async function keptPets(t: ExecutionContext, count: number, more: (i: number) => Partial<Pet> = () => ({})): Promise<Kv> {
  const { kv } = await storeOf(t)
  const change = new Change()
  for (let i = 0; i < count; i++) change.insert(pets, 'org_1', pet(idOf(i), { born: i, ...more(i) }))
  t.true((await new Database(kv).commit(change)).ok)
  return kv
}

/** Returns the database on this map, and counts the calls of the map. */
function counted(kv: Kv) {
  const asked = { gets: 0, batches: [] as number[], indexRows: 0 }
  const database = databaseWith(kv, {
    get: (key) => (asked.gets++, kv.get(key)),
    getMany: (keys) => (asked.batches.push(keys.length), kv.getMany(keys)),
    async *range(range) {
      for await (const entry of kv.range(range)) {
        asked.indexRows++
        yield entry
      }
    },
  })
  return { database, asked }
}

/** Returns the expected list: every row of the index, with one look-up each. */
async function modelOf(kv: Kv, reach: Visibility, options: Omit<ListOptions, 'limit'>, sieve?: Sieve<Pet>): Promise<Pet[]> {
  const found: Pet[] = []
  const database = new Database(kv)
  const range = within([...indexPrefix(pets.name, 'org_1', options.index ?? ''), ...(options.values ?? [])])
  for await (const { key } of kv.range({ ...range, reverse: !options.ascending })) {
    const stored = await database.get(pets, reach, String(unpack(key).at(-1)))
    const fate = stored && (sieve?.sort(stored.record) ?? 'take')
    if (fate === 'end') break
    if (stored && fate === 'take') found.push(stored.record)
  }
  return found
}

for (const ascending of [true, false])
  for (const limit of [1, 2, 7, 50, 200])
    test(`list: pages of ${limit} equal a look-up per row, ${ascending ? 'ascending' : 'descending'}`, async (t) => {
      const kv = await keptPets(t, 300, (i) => ({ project: i % 5 === 0 ? 'prj_b' : 'prj_a' }))
      const database = new Database(kv)
      const options = { index: 'colour', values: ['grey'], ascending }
      const sieve: Sieve<Pet> = {
        sort: ({ born }) => ((ascending ? born > 280 : born < 20) ? 'end' : born % 3 === 0 ? 'take' : 'pass'),
        maxLooks: 40,
      }
      for (const reach of [org, bound])
        for (const how of [undefined, sieve]) {
          const seen: Pet[] = []
          let cursor: string | undefined
          do {
            const page = await database.list(pets, reach, { ...options, limit, cursor }, how)
            t.true(page.rows.length <= limit)
            seen.push(...page.rows.map(({ record }) => record))
            cursor = page.nextCursor
          } while (cursor !== undefined)
          t.deepEqual(seen, await modelOf(kv, reach, options, how))
        }
    })

test('list: cursors do not depend on the page size', async (t) => {
  const database = new Database(await keptPets(t, 60))
  const options = { index: 'born', ascending: true }
  const whole = await database.list(pets, org, { ...options, limit: 30 })
  let cursor: string | undefined
  for (let i = 0; i < 30; i++) cursor = (await database.list(pets, org, { ...options, limit: 1, cursor })).nextCursor
  t.is(cursor, whole.nextCursor)
  t.is(
    Buffer.from(cursor ?? '', 'base64url')
      .subarray(6)
      .toString('hex'),
    '151d027065745f3030323900',
    'the mark, then 29 and pet_0029',
  )
})

test('list: only the last page has no cursor', async (t) => {
  const database = new Database(await keptPets(t, 10))
  const list = (limit: number, cursor?: string) => database.list(pets, org, { index: 'born', limit, cursor })
  t.is((await list(10)).nextCursor, undefined)
  t.is((await list(11)).nextCursor, undefined)
  const nine = await list(9)
  t.truthy(nine.nextCursor)
  const last = await list(9, nine.nextCursor)
  t.deepEqual([idsIn(last), last.nextCursor], [[idOf(0)], undefined])
  t.deepEqual(await list(0), { rows: [], nextCursor: undefined })
})

test('list: the cursor follows the last row of the page, not the last row read', async (t) => {
  const kv = await keptPets(t, 100, (i) => ({ project: i === 0 || i > 5 ? 'prj_b' : 'prj_a' }))
  const { database, asked } = counted(kv)
  const options = { index: 'born', ascending: true, limit: 2 }
  const first = await database.list(pets, bound, options)
  t.deepEqual(idsIn(first), [idOf(0), idOf(6)])
  t.deepEqual(asked.batches, [2, 4, 8], 'one batch read rows 6 to 13')
  t.deepEqual(idsIn(await database.list(pets, bound, { ...options, cursor: first.nextCursor })), [idOf(7), idOf(8)])
})

test('list: a record deleted during the read is skipped and replaced', async (t) => {
  const kv = await keptPets(t, 12)
  const plain = new Database(kv)
  const gone = new Set([1, 2, 3, 9].map(idOf))
  const database = databaseWith(kv, {
    async getMany(keys) {
      for (const id of gone) {
        if (!keys.some((key) => keyName(key) === keyName(recordKey(pets, 'org_1', id)))) continue
        const stored = await plain.get(pets, org, id)
        if (stored) t.true((await plain.commit(new Change().remove(pets, 'org_1', stored))).ok)
      }
      return kv.getMany(keys)
    },
  })
  const first = await database.list(pets, org, { index: 'born', ascending: true, limit: 4 })
  t.deepEqual(idsIn(first), [0, 4, 5, 6].map(idOf))
  const second = await database.list(pets, org, { index: 'born', ascending: true, limit: 4, cursor: first.nextCursor })
  t.deepEqual([idsIn(second), second.nextCursor], [[7, 8, 10, 11].map(idOf), undefined])
})

test('list: index rows without a record are skipped at the end of pages', async (t) => {
  const kv = await keptPets(t, 4)
  const rows = [3, 9].map((born) => pack([...indexPrefix(pets.name, 'org_1', 'born'), born, `pet_ghost_${born}`]))
  const ghosts = new Change()
  for (const key of rows) ghosts.sets.push({ key, value: Buffer.alloc(0) })
  t.true((await new Database(kv).commit(ghosts)).ok)
  const list = (limit: number) => new Database(kv).list(pets, org, { index: 'born', ascending: true, limit })
  t.deepEqual(idsIn(await list(10)), [0, 1, 2, 3].map(idOf))
  const full = await list(4)
  t.truthy(full.nextCursor, 'a row follows, and the list has not read its record')
  t.is((await list(5)).nextCursor, undefined)
})

for (const count of [60, 600, 2400])
  test(`list: a page of 50 of ${count} reads its records at once, and 51 index rows`, async (t) => {
    const { database, asked } = counted(await keptPets(t, count))
    t.is((await database.list(pets, org, { index: 'born', limit: 50 })).rows.length, 50)
    t.deepEqual(asked, { gets: 0, batches: [50], indexRows: 51 })
  })

test('list: a sieve reads in growing steps up to 128 rows and within its limit', async (t) => {
  const kv = await keptPets(t, 1500)
  const rare: Sieve<Pet> = { sort: ({ born }) => (born % 400 === 7 ? 'take' : 'pass'), maxLooks: 1000 }
  const { database, asked } = counted(kv)
  const page = await database.list(pets, org, { index: 'born', ascending: true, limit: 5 }, rare)
  t.deepEqual(idsIn(page), [7, 407, 807].map(idOf))
  t.deepEqual(asked, { gets: 0, batches: [5, 10, 20, 40, 80, ...Array.from({ length: 6 }, () => 128), 77], indexRows: 1001 })
  const next = await database.list(pets, org, { index: 'born', ascending: true, limit: 5, cursor: page.nextCursor }, rare)
  t.deepEqual([idsIn(next), next.nextCursor], [[idOf(1207)], undefined])
})
