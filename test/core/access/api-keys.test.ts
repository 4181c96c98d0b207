import test, { type ExecutionContext } from '#test'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { bootstrap } from '#core/bootstrap.ts'
import type { Bytes, Kv } from '#store/kv.ts'
import { Database } from '#store/database.ts'
import { coreOf } from '../core-of.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { storeOf } from '../../store/level/folders.ts'

/** Keys over a store that counts reads. */
async function openKeys(t: ExecutionContext) {
  const { kv } = await storeOf(t)
  let reads = 0
  const counting = new Proxy<Kv>(kv, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name === 'get') return (key: Bytes) => (reads++, target.get(key))
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
  const database = new Database(counting)
  const clock = new FakeClock()
  const options = {
    ...coreOf(database, clock),
    scopesOfMember: async () => undefined,
    grantStands: async () => false,
  }
  const keys = new ApiKeys(options)
  const { apiKey = '' } = await bootstrap({
    database,
    clock,
    secrets: new SecretBox(Buffer.alloc(32, 7)),
    adminKey: undefined,
    plan: 'enterprise',
  })
  return { keys, another: new ApiKeys(options), apiKey, clock, reads: () => reads, database }
}

const refused = { message: 'This API key is unknown, expired or revoked; use an active one.', code: 'unauthorized' } as const

test('authenticate() reads the store once until settings change', async (t) => {
  const { keys, apiKey, reads } = await openKeys(t)
  const principal = await keys.authenticate(apiKey)
  const before = reads()
  t.is(await keys.authenticate(apiKey), principal)
  t.is(reads(), before)
  const { key } = await keys.create(principal, { name: 'x', scopes: ['api:read'] })
  t.deepEqual(await keys.authenticate(apiKey), principal)
  t.true(reads() > before)
  t.deepEqual((await keys.authenticate(key)).scopes, ['api:read'])
})

test('authenticate() notices expiry of a cached key', async (t) => {
  const { keys, apiKey, clock } = await openKeys(t)
  const { key } = await keys.create(await keys.authenticate(apiKey), { name: 'x', scopes: ['api:read'], expiresAt: clock.now() + 10 })
  await keys.authenticate(key)
  clock.advance(9)
  await keys.authenticate(key)
  clock.advance(1)
  await t.throwsAsync(keys.authenticate(key), refused)
})

test('authenticate() refuses a key that is revoked during its lookup', async (t) => {
  const { keys, apiKey } = await openKeys(t)
  const principal = await keys.authenticate(apiKey)
  for (let round = 0; round < 20; round++) {
    const { key, record } = await keys.create(principal, { name: 'x', scopes: ['api:read'] })
    await Promise.allSettled([keys.authenticate(key), keys.revoke(principal, record.id), keys.authenticate(key)])
    await t.throwsAsync(keys.authenticate(key), refused)
  }
})

test('create() refuses scopes that the creating key lacks', async (t) => {
  const { keys, apiKey } = await openKeys(t)
  const scope = { ...(await keys.authenticate(apiKey)), scopes: ['api:send'] as const }
  await t.throwsAsync(keys.create(scope, { name: 'x', scopes: ['api:admin'] }), {
    message: 'This requires the scope api:admin; the key has api:send.',
  })
  t.deepEqual((await keys.create(scope, { name: 'x', scopes: ['api:read', 'api:send', 'api:read'] })).record.scopes, [
    'api:read',
    'api:send',
  ])
})

test('the last use of a key is stored at most every five minutes, for all processes', async (t) => {
  const { keys, another, apiKey, clock, database } = await openKeys(t)
  const principal = await keys.authenticate(apiKey)
  const used = clock.now()
  const before = database.commits
  for (let i = 0; i < 100; i++) await keys.authenticate(apiKey)
  t.is(database.commits - before, 0, 'the first use was stored earlier')
  clock.advance(299_999)
  await keys.authenticate(apiKey)
  t.is((await keys.get(principal, principal.credentialId)).usedAt, used)
  clock.advance(1)
  await keys.authenticate(apiKey)
  await another.create(principal, { name: 'x', scopes: ['api:read'] }) // a later write; the use is durable when it ends
  t.is((await another.get(principal, principal.credentialId)).usedAt, used + 300_000)
})

test('update() refuses to shorten the time with an administrator key', async (t) => {
  const { keys, apiKey, clock } = await openKeys(t)
  const principal = await keys.authenticate(apiKey)
  const day = 86_400_000
  const end = (days: number): number => clock.now() + days * day
  const refused = {
    code: 'conflict',
    message: 'No other active key with api:admin for the whole organization has this expiry or a later one. Create such a key first.',
  }
  const ends = (id: string, expiresAt: number | null) => keys.update(principal, id, { expiresAt })
  await t.throwsAsync(ends(principal.credentialId, end(1)), refused)
  const { record: second } = await keys.create(principal, { name: 'second', scopes: ['api:admin'], expiresAt: end(30) })
  await t.throwsAsync(ends(principal.credentialId, end(40)), refused, 'the other one ends')
  t.is((await ends(second.id, end(20))).record.expiresAt, end(20), 'the first one stays')
  await ends(second.id, null)
  t.is((await ends(principal.credentialId, end(1))).record.expiresAt, end(1))
  await t.throwsAsync(ends(second.id, end(2)), refused)
  t.is((await ends(principal.credentialId, end(3))).record.expiresAt, end(3), 'extending is always possible')
  t.is((await keys.update(principal, second.id, { name: 'Second' })).record.name, 'Second')
})
