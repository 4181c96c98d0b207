import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from '#test'
import { Change, encode } from '#store/change.ts'
import { contentRowBytes, Draft, type ContentRef } from '#store/content.ts'
import { Database } from '#store/database.ts'
import { dequeue, enqueue, type QueueEntry } from '#store/queue.ts'
import type { Bytes, Entry } from '#store/kv.ts'
import { pack, type Element } from '#store/tuple.ts'
import { verify, type VerifyOptions } from '#store/verify/verify.ts'
import { databaseWith, fixtures, pet, pets } from './kinds.ts'
import { storeOf } from './level/folders.ts'

const kinds = [pets, fixtures]
const queued: QueueEntry = { destinationId: 'dst_1', projectId: 'prj_1', dueMs: 5, traceId: 'pet_1', organizationId: 'org_1', attempts: 0 }

/** A small consistent store: two pets, a fixture, a body that pet_1 owns, one queue entry, an expiry, counters. */
async function worldOf(t: ExecutionContext): Promise<{ database: Database; ref: ContentRef }> {
  const database = new Database((await storeOf(t)).kv)
  const draft = new Draft(database, 'org_1', 'pet_1')
  await draft.write(Buffer.alloc(contentRowBytes + 100, 'x'))
  const change = new Change()
    .insert(pets, 'org_1', pet('pet_1', { colours: ['red', 'white'] }))
    .insert(pets, 'org_2', pet('pet_2'))
    .insert(fixtures, '', { id: 'hse_1', street: 'High' })
    .set(['org_1', 'event', 'pet_1', 1], Buffer.from('{}'))
    .expire(99, ['org_1', 'event', 'pet_1', 1])
    .add(['org_1', 'counter', 'sends'], 1)
  const ref = draft.seal(change)
  await database.commit(enqueue(change, queued))
  return { database, ref }
}
const optionsOf = (ref: ContentRef): VerifyOptions => ({
  kinds,
  families: [{ name: 'event', check: (_, value) => (value.length > 0 ? [] : ['it is empty.']) }],
  contents: {
    of: (kind, organizationId) => (kind === 'pet' && organizationId === 'org_1' ? [ref] : []),
    owner: async (organizationId, id) => (organizationId === 'org_1' && id === 'pet_1' ? ref : undefined),
  },
})
const problemsAfter = async (
  t: ExecutionContext,
  damage: (change: Change) => Change,
  more: Partial<VerifyOptions> = {},
): Promise<readonly string[]> => {
  const { database, ref } = await worldOf(t)
  await database.commit(damage(new Change()))
  return (await verify(database, { ...optionsOf(ref), ...more })).problems
}

test('verify(): counts all rows and finds no problem in a sound store', async (t) => {
  const { database, ref } = await worldOf(t)
  t.deepEqual(await verify(database, optionsOf(ref)), { records: 3, indexRows: 9, contents: 1, queueEntries: 1, problems: [] })
  const empty = new Database((await storeOf(t)).kv)
  t.deepEqual(await verify(empty, { kinds }), { records: 0, indexRows: 0, contents: 0, queueEntries: 0, problems: [] })
})

test('verify(): reports a missing index row', async (t) => {
  t.deepEqual(await problemsAfter(t, (change) => change.delete(['org_1', 'pet#colour', 'red', 0, 'pet_1'])), [
    'pet ["org_1","pet","pet_1"]: its index row ["org_1","pet#colour","red",0,"pet_1"] is missing.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.delete(['', 'pet@tag', 'tag of pet_1'])), [
    'pet ["org_1","pet","pet_1"]: its index row ["","pet@tag","tag of pet_1"] is missing.',
  ])
})

test('verify(): reports index rows without a record', async (t) => {
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'pet#colour', 'blue', 0, 'pet_1'])), [
    'index row ["org_1","pet#colour","blue",0,"pet_1"]: pet pet_1 does not have this row.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'pet#born', 3, 'pet_7'])), [
    'index row ["org_1","pet#born",3,"pet_7"]: there is no pet pet_7.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'pet!name', 'n'], Buffer.from('pet_1'))), [
    'index row ["org_1","pet!name","n"]: pet pet_1 does not have this row.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['', 'pet@tag', 'n'], encode(['org_9', 'pet_1']))), [
    'index row ["","pet@tag","n"]: there is no pet pet_1.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['', 'pet@tag', 'n'], Buffer.from('{'))), [
    'index row ["","pet@tag","n"]: its value cannot be read.',
  ])
})

test('verify(): reports a unique row of another record', async (t) => {
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'pet!name', 'name of pet_1'], Buffer.from('pet_2'))), [
    'pet ["org_1","pet","pet_1"]: its index row ["org_1","pet!name","name of pet_1"] is missing.',
    'index row ["org_1","pet!name","name of pet_1"]: there is no pet pet_2.',
  ])
})

test('verify(): reports records that do not match their schema or key', async (t) => {
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'house', 'hse_1'], encode({ id: 'hse_1', street: 7 }))), [
    'house ["org_1","house","hse_1"]: it does not fit its schema: street Invalid input: expected string, received number.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'house', 'hse_1'], encode({ id: 'hse_2', street: '' }))), [
    'house ["org_1","house","hse_1"]: its id differs from the id in its key.',
  ])
  const [unreadable = ''] = await problemsAfter(t, (change) => change.set(['org_1', 'house', 'hse_1'], Buffer.from('{"id":')))
  t.is(unreadable, 'house ["org_1","house","hse_1"]: it cannot be read: house ["org_1","house","hse_1"] is damaged: it is not JSON.')
})

test('verify(): reports keys of an unknown family or form', async (t) => {
  const unknown = (...key: Element[]): Promise<readonly string[]> => problemsAfter(t, (change) => change.set(key))
  t.deepEqual(await unknown('org_1', 'stray', 1), ['["org_1","stray",1]: no such family of keys.'])
  t.deepEqual(await unknown('org_1', 'pet@tag', 'x'), ['["org_1","pet@tag","x"]: no such family of keys.'])
  t.deepEqual(await unknown('org_1', 'queue', 1), ['["org_1","queue",1]: no such family of keys.'])
  t.deepEqual(await unknown(5, 'pet'), ['[5,"pet"]: not a key of this store.'])
  t.deepEqual(await unknown('', 'expire', 'soon', 'x'), ['["","expire","soon","x"]: its key does not have the form of its family.'])
  t.deepEqual(await problemsAfter(t, (change) => (change.sets.push({ key: Buffer.from('raw'), value: Buffer.of() }), change)), [
    '726177: not a key of this store.',
  ])
})

test('verify(): reports damaged, incomplete, unowned, marked and missing content', async (t) => {
  const row = (number: number): readonly Element[] => ['org_1', 'content', 'pet_1', number]
  const where = 'content pet_1 of org_1: '
  t.deepEqual(await problemsAfter(t, (change) => change.set(row(1), Buffer.alloc(100, 'y'))), [
    `${where}its bytes differ from the hash in its owner.`,
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(row(2), Buffer.alloc(1))), [
    `${where}it has 262245 bytes in 3 rows, but its owner says 262244 bytes in 2 rows.`,
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.delete(row(0))), [
    `${where}it has 100 bytes in 1 rows, but its owner says 262244 bytes in 2 rows.`,
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.delete(row(0)).delete(row(1))), [
    'pet ["org_1","pet","pet_1"]: its content pet_1 is missing.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_2', 'content', 'stray', 0])), [
    'content stray of org_2: nothing refers to it.',
  ])
  t.deepEqual(
    await problemsAfter(t, (change) => change.set(['org_2', 'content', 'open', 0]).set(['', 'content.open', 'org_2', 'open'])),
    [],
    'a draft',
  )
  t.deepEqual(await problemsAfter(t, (change) => change.set(['', 'content.open', 'org_1', 'pet_1'])), [
    `${where}it has an owner and a marker of unfinished content: the next start would remove it.`,
  ])
})

test('verify(): reports a damaged value once, at any place', async (t) => {
  const { kv, folder } = await storeOf(t)
  const database = new Database(kv)
  const refs = new Map<string, ContentRef>()
  for (const [id, fill] of [
    ['pet_1', 'a'],
    ['pet_2', 'b'],
    ['pet_3', 'c'],
  ] as const) {
    const draft = new Draft(database, 'org_1', id)
    await draft.write(Buffer.alloc(contentRowBytes + 5000, fill))
    const change = new Change().insert(pets, 'org_1', pet(id))
    refs.set(id, draft.seal(change))
    await database.commit(change)
  }
  const options: VerifyOptions = {
    kinds,
    contents: {
      of: (_, __, record) => [refs.get((record as { id: string }).id)].filter((ref) => ref !== undefined),
      owner: async (_, id) => refs.get(id),
    },
    // reads earlier rows, as the look at the last row of a content does
    checkRecord: async (_, organizationId, record) => {
      await database.kv.get(pack([organizationId, 'content', (record as { id: string }).id, 1]))
      return []
    },
  }
  t.deepEqual((await verify(database, options)).problems, [])
  const path = join(folder, 'values', '00000001.values')
  const log = await readFile(path)
  const damaged = async (...places: readonly number[]): Promise<readonly string[]> => {
    const bytes = Buffer.from(log)
    for (const place of places) bytes.fill('X', place, place + 4)
    await writeFile(path, bytes)
    const { problems, records, contents } = await verify(database, options)
    t.deepEqual([records, contents], [3, 3])
    return problems.map((problem) => problem.replace(/offset \d+/, 'offset'))
  }
  const naming = (id: string, row: number) =>
    `["org_1","content","${id}",${row}]: The value log is damaged: segment 1, offset. Restore a backup.`
  const last = log.lastIndexOf('b')
  t.deepEqual(await damaged(300), [naming('pet_1', 0)])
  t.deepEqual(await damaged(last - 100), [naming('pet_2', 1)])
  t.deepEqual(await damaged(300, last - 100), [naming('pet_1', 0), naming('pet_2', 1)])
})

test('verify(): finds gaps in content without its owner', async (t) => {
  const { database } = await worldOf(t)
  await database.commit(new Change().delete(['org_1', 'content', 'pet_1', 0]))
  const { problems } = await verify(database, { kinds, families: [{ name: 'event' }] })
  t.deepEqual(problems, ['content pet_1 of org_1: it has 1 rows, but the last one is number 1.'])
})

test('verify(): reports unreadable, refused and miscounted queue entries', async (t) => {
  const key = ['', 'queue', 'dst_1', 'prj_1', 9, 'x']
  t.deepEqual(
    await problemsAfter(t, (change) => change.set(key, Buffer.from('?')).add(['', 'counter', 'queue.length'], 1), {
      checkQueueEntry: async () => [],
    }),
    ['queue entry ["","queue","dst_1","prj_1",9,"x"]: its value cannot be read.'],
  )
  t.deepEqual(await problemsAfter(t, (change) => change, { checkQueueEntry: async ({ traceId }) => [`no trace ${traceId}.`] }), [
    'queue entry ["","queue","dst_1","prj_1",5,"pet_1"]: no trace pet_1.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.add(['', 'counter', 'queue.length'], 2)), [
    'The queue has 1 entries, but its counter says 3.',
  ])
})

test('verify(): reports ages without entries and postponed entries without ages', async (t) => {
  t.deepEqual(await problemsAfter(t, (change) => enqueue(change, { ...queued, dueMs: 9, since: 7, traceId: 'pet_2' })), [])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['', 'queue.since', 7, 'pet_2'], encode(['dst_1', 'prj_1', 9]))), [
    'age ["","queue.since",7,"pet_2"]: no queue entry belongs to it.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => change.set(['', 'queue.since', 7, 'pet_2'], Buffer.from('?'))), [
    'age ["","queue.since",7,"pet_2"]: no queue entry belongs to it.',
  ])
  const putOff = ['', 'queue', 'dst_1', 'prj_1', 9, 'pet_2']
  t.deepEqual(await problemsAfter(t, (change) => change.set(putOff, encode(['org_1', 1, 7])).add(['', 'counter', 'queue.length'], 1)), [
    'queue entry ["","queue","dst_1","prj_1",9,"pet_2"]: it was postponed, and its row of ages is missing.',
  ])
})

test('verify(): reports wrong counters of records in every organization', async (t) => {
  const counter = (organizationId: string): readonly Element[] => [organizationId, 'counter', 'pets']
  const right = (change: Change): Change => change.add(counter('org_1'), 1).add(counter('org_2'), 1)
  const counted = [{ kind: pets, counter }]
  t.deepEqual(await problemsAfter(t, right, { counted }), [])
  t.deepEqual(await problemsAfter(t, (change) => right(change).add(counter('org_2'), -1), { counted }), [
    'org_2 has 1 records of the kind pet, but their counter says 0.',
  ])
  t.deepEqual(await problemsAfter(t, (change) => right(change).insert(pets, 'org_1', pet('pet_3')), { counted }), [
    'org_1 has 2 records of the kind pet, but their counter says 1.',
  ])
  t.deepEqual(
    await problemsAfter(t, (change) => right(change).insert(fixtures, 'org_3', { id: 'hse_2', street: 'Low' }).add(counter('org_3'), 5), {
      counted,
    }),
    ['org_3 has 0 records of the kind pet, but their counter says 5.'],
  )
})

test('verify(): reports wrong counters of weights', async (t) => {
  const counter = (organizationId: string): readonly Element[] => [organizationId, 'counter', 'letters']
  const counted = [{ kind: pets, counter, weigh: (record: unknown) => (record as { id: string }).id.length }]
  const right = (change: Change): Change => change.add(counter('org_1'), 5).add(counter('org_2'), 5)
  t.deepEqual(await problemsAfter(t, right, { counted }), [])
  t.deepEqual(await problemsAfter(t, (change) => right(change).insert(pets, 'org_1', pet('pet_33')), { counted }), [
    'org_1 has records of the kind pet that weigh 11, but their counter says 5.',
  ])
})

test('verify() asks the owner of records and families, and reports lost group commits', async (t) => {
  const checkRecord = async (kind: string, organizationId: string, record: unknown): Promise<readonly string[]> =>
    kind === 'house' ? [`${organizationId}|${(record as { street: string }).street}.`] : []
  t.deepEqual(await problemsAfter(t, (change) => change.set(['org_1', 'event', 'e', 1]), { checkRecord, missingGroups: [17, 18] }), [
    'house ["","house","hse_1"]: |High.',
    '["org_1","event","e",1]: it is empty.',
    'The log of writes is damaged: 2 group commits from number 17 on are lost.',
  ])
})

test('verify(): continues after an unreadable row', async (t) => {
  const check = (_: unknown, value: Bytes): readonly string[] => (JSON.parse(Buffer.from(value).toString()) as { of?: string[] }).of ?? []
  const rows = (change: Change): Change =>
    change.set(['org_1', 'event', 'a'], Buffer.from('{"of"')).set(['org_1', 'event', 'b'], encode({ of: ['It is read.'] }))
  const [first = '', ...further] = await problemsAfter(t, rows, { families: [{ name: 'event', check }] })
  t.regex(first, /^\["org_1","event","a"\]: its value cannot be read: .*JSON/)
  t.deepEqual(further, ['["org_1","event","b"]: It is read.'])
})

test('verify(): reports rows out of order', async (t) => {
  const { database, ref } = await worldOf(t)
  const moving = databaseWith(database.kv, {
    async *range(range) {
      const [first, second, ...rest] = await Array.fromAsync(database.kv.range(range))
      if (first && second) yield* [second, first, ...rest]
    },
  })
  const { problems } = await verify(moving, optionsOf(ref))
  t.deepEqual(
    problems.map((problem) => problem.replace(/^.*\]: /, '')),
    ['it is out of order; the store is damaged.'],
  )
})

test('verify(): reads no rows of damaged files and reports earlier damage', async (t) => {
  const stray = (change: Change): Change => change.set(['org_1', 'stray', 1])
  const old = { sentence: 'It was damaged.', isGone: true }
  t.deepEqual(await problemsAfter(t, stray, { damage: [old] }), ['It was damaged.', '["org_1","stray",1]: no such family of keys.'])
  t.deepEqual(await problemsAfter(t, stray, { damage: [{ sentence: 'It is damaged.', isGone: false }, old] }), [
    'It is damaged.',
    'It was damaged.',
  ])
})

test('verify(): reports at most 1,000 problems and the number of others', async (t) => {
  const stray = (change: Change): Change => {
    for (let i = 0; i < 1500; i++) change.set(['org_1', 'stray', i])
    return change
  }
  const problems = await problemsAfter(t, stray)
  t.is(problems.length, 1001)
  t.is(problems.at(-1), 'And 500 more.')
})

test('verify(): finds no false problems in a store in use', async (t) => {
  const { kv } = await storeOf(t)
  const database = new Database(kv)
  const ids = Array.from({ length: 60 }, (_, i) => `pet_${i}`)
  await database.commit(ids.reduce((change, id) => change.insert(pets, 'org_1', pet(id)), new Change()))
  let turn = 0
  let moves = 0
  const restless = async (): Promise<void> => {
    const id = ids[turn++ % ids.length] ?? ''
    const stored = await database.get(pets, { organizationId: 'org_1' }, id)
    if (!stored) return
    const other =
      turn % 3 === 0
        ? new Change().remove(pets, 'org_1', stored)
        : new Change().replace(pets, 'org_1', stored, { ...stored.record, name: `new ${turn}`, colours: [`c${turn}`] })
    await database.commit(other)
    const entry = { ...queued, dueMs: moves >> 1 }
    await database.commit(moves++ % 2 ? dequeue(new Change(), entry) : enqueue(new Change(), entry))
  }
  const moving = databaseWith(kv, {
    async *range({ start, end }) {
      for (let from: Bytes | undefined = start; from;) {
        const some: Entry[] = await Array.fromAsync(kv.range({ start: from, end, limit: 10 }))
        from = some[9] && Buffer.concat([some[9].key, Buffer.of(0)])
        for (const entry of some) {
          await restless()
          yield entry
        }
      }
    },
  })
  const { problems, records } = await verify(moving, { kinds })
  t.deepEqual(problems, [])
  t.true(records >= 30 && records <= 60)
  t.true(turn > 200)
})

test('verify(): needs no look-up for a sound store', async (t) => {
  const { database, ref } = await worldOf(t)
  const asked: string[] = []
  const watched = databaseWith(database.kv, {
    get(key) {
      asked.push(`get ${Buffer.from(key).toString()}`)
      return database.kv.get(key)
    },
    getMany(keys) {
      asked.push(`getMany of ${keys.length}`)
      return database.kv.getMany(keys)
    },
  })
  t.deepEqual((await verify(watched, optionsOf(ref))).problems, [])
  t.deepEqual(asked, [])
})

test('verify(): asks twice for the owner of content, which may be new', async (t) => {
  const { database, ref } = await worldOf(t)
  const answers = [undefined, ref]
  const contents = { of: () => [], owner: async () => answers.shift() }
  t.deepEqual((await verify(database, { ...optionsOf(ref), contents })).problems, [])
  t.deepEqual(answers, [])
})

test('verify(): checks an index row again after a change of its record', async (t) => {
  const { database, ref } = await worldOf(t)
  const { kv } = database
  const [recordKey, rowKey] = [pack(['org_1', 'pet', 'pet_1']), pack(['org_1', 'pet#colour', 'blue', 0, 'pet_1'])]
  let [turnsBlue, walks] = [true, 0]
  const moving = databaseWith(kv, {
    async get(key) {
      const entry = await kv.get(key)
      if (walks === 1 && turnsBlue && Buffer.compare(key, recordKey) === 0) {
        turnsBlue = false
        const stored = await database.get(pets, { organizationId: 'org_1' }, 'pet_1')
        if (stored) await database.commit(new Change().replace(pets, 'org_1', stored, { ...stored.record, colours: ['blue'] }))
      }
      return entry
    },
    async *range(range) {
      let isBlue = turnsBlue
      for await (const entry of kv.range(range)) {
        if (isBlue && Buffer.compare(rowKey, entry.key) < 0) yield { key: rowKey, value: Buffer.of(), version: 1n }
        if (Buffer.compare(rowKey, entry.key) < 0) isBlue = false
        yield entry
      }
      walks++
    },
  })
  t.deepEqual((await verify(moving, optionsOf(ref))).problems, [])
  t.false(turnsBlue)
})
