import test, { type ExecutionContext } from '#test'
import { Refusal } from '#core/refusals.ts'
import { routingRules, type RoutingRule } from '#core/routing/rule.ts'
import { must, transact } from '#core/writes/transact.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { keyName, pack } from '#store/tuple.ts'
import { storeOf } from '../store/level/folders.ts'

const reach = { organizationId: 'o' }
const rule = (id: string, priority = 1): RoutingRule => ({
  ...{ id, projectId: 'p', match: { any: true }, destinationId: 'd', priority, createdAt: 1 },
})

/** A store with two rules. */
async function openStore(t: ExecutionContext): Promise<Database> {
  const database = new Database((await storeOf(t)).kv)
  await database.commit(new Change().insert(routingRules, 'o', rule('a')).insert(routingRules, 'o', rule('b')))
  return database
}
const priorityOf = async (database: Database, id: string) => (await database.get(routingRules, reach, id))?.record.priority
const setPriority = (database: Database, id: string, priority: number) =>
  transact(database, reach, async (change) => {
    const stored = await change.must(routingRules, id)
    change.replace(routingRules, 'o', stored, { ...stored.record, priority })
  })

test('transact(): checks reads, so the later of two conflicting decisions runs again', async (t) => {
  const database = await openStore(t)
  /** Sets one record to 9 unless the other one has it. */
  const claim = (own: string, other: string) =>
    transact(database, reach, async (change) => {
      const stored = await change.must(routingRules, own)
      if ((await change.must(routingRules, other)).record.priority === 9) return false
      change.replace(routingRules, 'o', stored, { ...stored.record, priority: 9 })
      return true
    })
  const claimed = await Promise.all([claim('a', 'b'), claim('b', 'a')])
  t.deepEqual(claimed.toSorted(), [false, true])
})

test('transact(): decides again if a read record was deleted', async (t) => {
  const database = await openStore(t)
  const seen: unknown[] = []
  await transact(database, reach, async (change) => {
    const other = await change.get(routingRules, 'b')
    seen.push(other?.record.id)
    if (seen.length === 1 && other) await database.commit(new Change().remove(routingRules, 'o', other))
    change.insert(routingRules, 'o', rule(`made ${seen.length}`))
  })
  t.deepEqual(seen, ['b', undefined])
  t.is(await priorityOf(database, 'made 1'), undefined)
  t.is(await priorityOf(database, 'made 2'), 1)
})

test('transact(): many writers of one record all succeed', async (t) => {
  const database = await openStore(t)
  const add = () =>
    transact(database, reach, async (change) => {
      const stored = await change.must(routingRules, 'a')
      change.replace(routingRules, 'o', stored, { ...stored.record, priority: stored.record.priority + 1 })
    })
  await Promise.all(Array.from({ length: 300 }, add)) // all of one group lose to its first
  t.is(await priorityOf(database, 'a'), 301)
})

test('transact(): ends with a conflict if other writers always win, and writes nothing', async (t) => {
  const database = await openStore(t)
  let tries = 0
  const work = transact(database, reach, async (change) => {
    const stored = await change.must(routingRules, 'a')
    await setPriority(database, 'a', 100 + tries++)
    change.replace(routingRules, 'o', stored, { ...stored.record, priority: 7 })
  })
  const { code } = await t.throwsAsync(work, { instanceOf: Refusal })
  t.is(code, 'conflict')
  t.is(await priorityOf(database, 'a'), 99 + tries)
})

test('transact(): writes nothing for an empty change; a refusal ends it', async (t) => {
  const database = await openStore(t)
  const before = database.commits
  t.is(await transact(database, reach, async (change) => (await change.get(routingRules, 'a'))?.record.id), 'a')
  const missing = { instanceOf: Refusal, message: 'No routing rule has this id.' }
  t.is((await t.throwsAsync(setPriority(database, 'nobody', 2), missing)).code, 'not_found')
  t.is((await t.throwsAsync(must(database, routingRules, { organizationId: 'p' }, 'a'), missing)).code, 'not_found')
  const bound = { organizationId: 'o', projectId: 'q', bound: true }
  await t.throwsAsync(
    transact(database, bound, (change) => change.must(routingRules, 'a')),
    missing,
  )
  t.is(database.commits, before)
})

test('transact(): throws the refusal of a counter at its limit', async (t) => {
  const database = await openStore(t)
  const key = ['o', 'counter']
  const full = new Refusal('quota_exceeded', 'Three are enough.')
  const add = (isNamed: boolean) =>
    transact(database, reach, (change) => {
      if (isNamed) change.limits.set(keyName(pack(key)), () => full)
      change.add(key, 2, 3)
    })
  await add(true)
  t.is(await t.throwsAsync(add(true)), full)
  t.is((await t.throwsAsync(add(false), { instanceOf: Refusal })).code, 'rate_limit_exceeded')
})
