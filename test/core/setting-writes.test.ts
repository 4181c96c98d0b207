import test, { type ExecutionContext } from '#test'
import { routingRules, type RoutingRule } from '#core/routing/rule.ts'
import { actorOf, Audit, auditEntries } from '#core/writes/audit.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { storeOf } from '../store/level/folders.ts'

const rule = (id: string, priority = 1): RoutingRule => ({
  ...{ id, projectId: 'p', match: { any: true }, destinationId: 'd', priority, createdAt: 1 },
})

/** Opens a separate store. */
const openStore = async (t: ExecutionContext): Promise<Database> => new Database((await storeOf(t)).kv)
/** The writes of one process. */
const writesOn = (database: Database): SettingWrites => new SettingWrites(database, new Audit({ database, clock: new FakeClock() }))

const rulesOf = async (database: Database) => (await database.all(routingRules, { organizationId: 'o' })).map(({ record }) => record)

test('run(): serializes changes of one organization', async (t) => {
  const database = await openStore(t)
  const writes = writesOn(database)
  const addUnlessFull = (id: string) =>
    writes.run('o', async (change) => {
      const full = (await rulesOf(database)).length >= 2
      if (!full) change.insert(routingRules, 'o', rule(id))
      return !full
    })
  t.deepEqual(await Promise.all(['a', 'b', 'c', 'd'].map(addUnlessFull)), [true, true, false, false])
  t.is((await rulesOf(database)).length, 2)
})

test('run(): decides again after a concurrent write of another process', async (t) => {
  const database = await openStore(t)
  const [ours, theirs] = [writesOn(database), writesOn(database)]
  let decided = 0
  await ours.run('o', async (change) => {
    if (decided++ === 0) await theirs.run('o', (other) => other.insert(routingRules, 'o', rule('theirs')))
    change.insert(routingRules, 'o', rule('ours', (await rulesOf(database)).length))
  })
  t.is(decided, 2)
  t.like(
    (await rulesOf(database)).find(({ id }) => id === 'ours'),
    { priority: 1 },
  )
})

test('run(): ends with a conflict if other writers always win', async (t) => {
  const database = await openStore(t)
  const [ours, theirs] = [writesOn(database), writesOn(database)]
  let round = 0
  const run = ours.run('o', async (change) => {
    await theirs.run('o', (other) => other.insert(routingRules, 'o', rule(`theirs ${round++}`)))
    change.insert(routingRules, 'o', rule('ours'))
  })
  await t.throwsAsync(run, { message: 'The resource was modified by another request. Fetch the current version and try again.' })
  t.false((await rulesOf(database)).some(({ id }) => id === 'ours'))
})

test('run(): writes nothing for an empty change, and continues after a refusal', async (t) => {
  const database = await openStore(t)
  const writes = writesOn(database)
  t.is(await writes.run('o', () => 7), 7)
  t.is(database.commits, 0)
  const refused = writes.run('o', () => {
    throw new Error('no')
  })
  const after = writes.run('o', (change: Change) => change.insert(routingRules, 'o', rule('a')))
  await t.throwsAsync(refused, { message: 'no' })
  await after
  t.is((await rulesOf(database)).length, 1)
})

const requester = { organizationId: 'o', credentialId: 'key_1' }
const acts = async (database: Database) =>
  (await database.all(auditEntries, { organizationId: 'o' })).map(({ record: { actor, act, target, projectId, details } }) => ({
    ...{ actor: actor.id, act, target, projectId, details },
  }))

test('runAudited(): records one audit entry in the write, despite repeated decisions', async (t) => {
  const database = await openStore(t)
  const [ours, theirs] = [writesOn(database), writesOn(database)]
  let decided = 0
  await ours.runAudited(requester, 'routing_rule.created', async (change) => {
    if (decided++ === 0) await theirs.run('o', (other) => other.insert(routingRules, 'o', rule('theirs')))
    change.insert(routingRules, 'o', rule('ours'))
  })
  t.is(decided, 2)
  const told = { actor: 'key_1', act: 'routing_rule.created', target: 'ours', projectId: 'p', details: {} }
  t.deepEqual(await acts(database), [told])
  await t.throwsAsync(
    ours.runAudited(requester, 'routing_rule.deleted', () => {
      throw new Error('no')
    }),
  )
  await ours.runAudited(requester, 'routing_rule.deleted', () => {})
  t.deepEqual(await acts(database), [told], 'refusals and empty changes make no entry')
})

test('runAudited(): an entry names the changed fields and the action of its record', async (t) => {
  const database = await openStore(t)
  const writes = writesOn(database)
  await writes.run('o', (change) => change.insert(routingRules, 'o', rule('a')))
  await writes.runAudited(requester, 'project.deleted', async (change) => {
    const [stored] = await database.all(routingRules, { organizationId: 'o' })
    if (stored) change.replace(routingRules, 'o', stored, { ...stored.record, priority: 5, destinationId: 'd2' })
  })
  t.like(await acts(database), [{ act: 'routing_rule.updated', target: 'a', details: { changed: ['destination_id', 'priority'] } }])
})

test('actorOf(): a person, an agent without a person, or a key', (t) => {
  t.deepEqual(actorOf({ credentialId: 'grt_1', holder: { kind: 'user', userId: 'usr_1' } }), { kind: 'user', id: 'usr_1' })
  t.deepEqual(actorOf({ credentialId: 'grt_1', holder: { kind: 'anonymous' } }), { kind: 'agent', id: 'grt_1' })
  t.deepEqual(actorOf({ credentialId: 'key_1' }), { kind: 'api_key', id: 'key_1' })
})
