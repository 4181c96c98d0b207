import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { apiKeys } from '#core/access/api-key.ts'
import { ApiKeys } from '#core/access/api-keys.ts'
import { bootstrap } from '#core/bootstrap.ts'
import { inboxes } from '#core/capture/capture.ts'
import { integrityChecks } from '#core/integrity.ts'
import { Policies } from '#core/routing/policy.ts'
import { Audit } from '#core/audit.ts'
import { SettingWrites } from '#core/setting-writes.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { verify } from '#store/verify.ts'
import { ManualClock } from '../protocols/relay/manual-clock.ts'
import { temporaryFolder } from '../support/workspace.ts'

const first = `svckey_${'a'.repeat(43)}`
const second = `svckey_${'b'.repeat(43)}`

async function openStore(t: ExecutionContext) {
  const folder = await temporaryFolder('bootstrap')
  const kv = await LevelKv.open(join(folder.path, 'store'))
  t.teardown(async () => {
    await kv[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const database = new Database(kv)
  const clock = new ManualClock()
  const options = { database, clock, policies: new Policies(database), writes: new SettingWrites(database, new Audit({ database, clock })) }
  const keys = new ApiKeys(options)
  const start = (adminKey: string | undefined, plan: 'free' | 'enterprise' = 'enterprise') => bootstrap({ database, clock, adminKey, plan })
  const works = (key: string) =>
    keys.authenticate(key).then(
      () => true,
      () => false,
    )
  return { database, clock, keys, start, works }
}

test('bootstrap() makes an organization, its project Default, a catch-all inbox and a key', async (t) => {
  const { database, start, keys } = await openStore(t)
  const { organizationId, apiKey = '' } = await start(undefined, 'free')
  t.regex(apiKey, /^svckey_[A-Za-z0-9_-]{43}$/)
  const scope = await keys.authenticate(apiKey)
  t.like(scope, { organizationId, bound: false, rights: ['api:admin'] })
  const reach = { organizationId }
  t.like((await database.get(organizations, reach, organizationId))?.record, { plan: 'free', defaultProjectId: scope.projectId })
  t.like((await database.get(projects, reach, scope.projectId))?.record, {
    name: 'Default',
    status: 'claimed',
    isDefault: true,
    noRoutePolicy: 'capture',
    sendBudget: null,
    monthlyCaptureCap: null,
  })
  t.like((await database.find(inboxes, reach, 'pattern', [scope.projectId, '*']))?.record, { name: 'Catch-all' })
  t.deepEqual((await verify(database, integrityChecks(database))).problems, [])
})

test('bootstrap() again changes nothing and prints no key', async (t) => {
  const { database, start, works } = await openStore(t)
  const { organizationId, apiKey = '' } = await start(undefined)
  const commits = database.commits
  t.deepEqual(await start(undefined, 'free'), { organizationId, apiKey: undefined, ownerLink: undefined })
  t.is(database.commits, commits)
  t.true(await works(apiKey))
})

test('bootstrap() makes the key of the environment valid, and ends the one before', async (t) => {
  const { database, start, works } = await openStore(t)
  t.is((await start(first)).apiKey, undefined)
  t.true(await works(first))
  const commits = database.commits
  await start(first)
  t.is(database.commits, commits)
  await start(second)
  t.deepEqual([await works(first), await works(second)], [false, true])
  t.is((await start(undefined)).apiKey, undefined, 'there is a key to begin with')
  t.true(await works(second))
})

test('bootstrap() makes a revoked key of the environment valid again', async (t) => {
  const { start, keys, works } = await openStore(t)
  await start(first)
  const scope = await keys.authenticate(first)
  await keys.mint(scope, { name: 'other', scopes: ['api:admin'] })
  await keys.revoke(scope, 'key_environment')
  t.false(await works(first))
  await start(first)
  t.true(await works(first))
})

test('bootstrap() makes a key when the last one has expired', async (t) => {
  const { clock, start, keys, works } = await openStore(t)
  await start(first)
  const scope = await keys.authenticate(first)
  const { key } = await keys.mint(scope, { name: 'other', scopes: ['api:admin'], expiresAt: clock.now() + 1000 })
  await keys.revoke(scope, 'key_environment')
  t.is((await start(undefined)).apiKey, undefined)
  clock.advance(1000)
  t.false(await works(key))
  const { apiKey = '' } = await start(undefined)
  t.true(await works(apiKey))
})

test('bootstrap() takes a minted administrator as the key of the environment, and refuses one that is none any more', async (t) => {
  const { database, start, keys, works } = await openStore(t)
  const { organizationId, apiKey = '' } = await start(undefined)
  const scope = await keys.authenticate(apiKey)
  const minted = await keys.mint(scope, { name: 'other', scopes: ['api:admin'] })
  await start(minted.key)
  t.is(await database.get(apiKeys, { organizationId }, 'key_environment'), undefined)
  await keys.revoke(scope, minted.record.id)
  await t.throwsAsync(start(minted.key), {
    message: 'POSTERN_ADMIN_KEY is a key that was minted here and is no administrator any more; choose another one.',
  })
  t.false(await works(minted.key))
})
