import test, { type ExecutionContext } from '#test'
import { apiKeys } from '#core/access/keys/api-key.ts'
import { ApiKeys } from '#core/access/keys/api-keys.ts'
import { smtpCredentials } from '#core/access/smtp-credential.ts'
import { bootstrap } from '#core/bootstrap.ts'
import { inboxes } from '#core/capture/capture.ts'
import { peakUsage } from '#core/plan/peak-usage.ts'
import { firstSecrets } from '#core/first-secrets.ts'
import { members } from '#core/people/members/member.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { coreOf } from './core-of.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { storeOf } from '../store/level/folders.ts'
import { assertSound } from '../support/problems.ts'

const first = `svckey_${'a'.repeat(43)}`
const second = `svckey_${'b'.repeat(43)}`

async function openStore(t: ExecutionContext) {
  const database = new Database((await storeOf(t)).kv)
  const clock = new FakeClock()
  const core = coreOf(database, clock)
  const { secrets } = core
  const keys = new ApiKeys({ ...core, scopesOfMember: async () => undefined, grantStands: async () => false })
  const start = (adminKey: string | undefined, plan: 'anonymous' | 'free' | 'enterprise' = 'enterprise') =>
    bootstrap({ database, clock, secrets, adminKey, plan })
  const works = (key: string) =>
    keys.authenticate(key).then(
      () => true,
      () => false,
    )
  return { database, clock, secrets, keys, start, works }
}

test('bootstrap(): creates an organization, its project, a catch-all inbox and a key', async (t) => {
  const { database, start, keys } = await openStore(t)
  const { organizationId, apiKey = '' } = await start(undefined, 'free')
  t.regex(apiKey, /^svckey_[A-Za-z0-9_-]{43}$/)
  const principal = await keys.authenticate(apiKey)
  t.like(principal, { organizationId, bound: false, scopes: ['api:admin'] })
  const reach = { organizationId }
  t.like((await database.get(organizations, reach, organizationId))?.record, { plan: 'free', defaultProjectId: principal.projectId })
  t.like((await database.get(projects, reach, principal.projectId))?.record, {
    name: 'Default',
    status: 'claimed',
    isDefault: true,
    noRoutePolicy: 'capture',
    sendBudget: null,
    monthlyCaptureCap: null,
  })
  t.like((await database.find(inboxes, reach, 'pattern', [principal.projectId, '*']))?.record, { name: 'Catch-all' })
  await assertSound(t, { database })
})

test('bootstrap(): counts the created SMTP login; none with a given key or by plan', async (t) => {
  const { database, clock, secrets, start, keys } = await openStore(t)
  const { organizationId, apiKey = '', smtpLogin } = await start(undefined, 'free')
  const stored = await database.lookup(smtpCredentials, 'username', [smtpLogin?.username ?? ''])
  const { projectId } = await keys.authenticate(apiKey)
  t.like(stored, { organizationId, record: { projectId, defaultDestinationId: null, expiresAt: null, allowedFromDomains: [] } })
  t.true(secrets.matches(smtpLogin?.password ?? '', stored?.record.passwordFingerprint ?? ''))
  const { most } = await peakUsage(database, organizationId, 'smtp_credentials', new Date(clock.now()).toISOString().slice(0, 7))
  t.deepEqual(most, { count: 1, projects: [[projectId, 1]] })
  await assertSound(t, { database })
  t.is((await (await openStore(t)).start(first)).smtpLogin, undefined)
  t.is((await (await openStore(t)).start(undefined, 'anonymous')).smtpLogin, undefined)
})

test('bootstrap(): shows key, login and a new link until the organization has an owner', async (t) => {
  const { database, clock, start, works } = await openStore(t)
  const made = await start(undefined)
  const again = await start(undefined, 'free')
  t.deepEqual({ ...again, ownerLink: '' }, { ...made, ownerLink: '' })
  t.not(again.ownerLink, made.ownerLink)
  t.regex(again.ownerLink ?? '', /^[\w-]{40,}$/)
  t.true(await works(again.apiKey ?? ''))
  const { organizationId } = made
  const owner = { id: 'usr_1', organizationId, role: 'owner' as const, joinedAt: clock.now() }
  await database.commit(new Change().insert(members, organizationId, owner))
  t.deepEqual(await start(undefined), { organizationId, apiKey: undefined, smtpLogin: undefined, ownerLink: undefined })
  t.deepEqual(await database.all(firstSecrets, { organizationId }), [], 'used-up links are removed')
  const commits = database.commits
  await start(undefined)
  t.is(database.commits, commits)
})

test('bootstrap(): hides a revoked key and a deleted login', async (t) => {
  const { database, start, keys } = await openStore(t)
  const { organizationId, apiKey = '', smtpLogin } = await start(undefined)
  const principal = await keys.authenticate(apiKey)
  await keys.create(principal, { name: 'other', scopes: ['api:admin'] })
  await keys.revoke(principal, principal.credentialId)
  const login = await database.lookup(smtpCredentials, 'username', [smtpLogin?.username ?? ''])
  if (login) await database.commit(new Change().remove(smtpCredentials, organizationId, login))
  const { apiKey: shown, smtpLogin: shownLogin, ownerLink } = await start(undefined)
  t.deepEqual([shown, shownLogin], [undefined, undefined])
  t.truthy(ownerLink)
})

test("bootstrap(): activates the environment's key, and ends the previous one", async (t) => {
  const { start, works } = await openStore(t)
  t.is((await start(first)).apiKey, undefined)
  t.true(await works(first))
  await start(first)
  t.true(await works(first))
  await start(second)
  t.deepEqual([await works(first), await works(second)], [false, true])
  t.is((await start(undefined)).apiKey, undefined, 'a key exists at the start')
  t.true(await works(second))
})

test('bootstrap(): reactivates a revoked key of the environment', async (t) => {
  const { start, keys, works } = await openStore(t)
  await start(first)
  const principal = await keys.authenticate(first)
  await keys.create(principal, { name: 'other', scopes: ['api:admin'] })
  await keys.revoke(principal, 'key_environment')
  t.false(await works(first))
  await start(first)
  t.true(await works(first))
})

test('bootstrap(): creates a key if the last one has expired', async (t) => {
  const { clock, start, keys, works } = await openStore(t)
  await start(first)
  const principal = await keys.authenticate(first)
  const { key } = await keys.create(principal, { name: 'other', scopes: ['api:admin'], expiresAt: clock.now() + 1000 })
  await keys.revoke(principal, 'key_environment')
  t.is((await start(undefined)).apiKey, undefined)
  clock.advance(1000)
  t.false(await works(key))
  const { apiKey = '' } = await start(undefined)
  t.true(await works(apiKey))
})

test('bootstrap(): accepts an administrator key of this service, unless demoted', async (t) => {
  const { database, start, keys, works } = await openStore(t)
  const { organizationId, apiKey = '' } = await start(undefined)
  const principal = await keys.authenticate(apiKey)
  const minted = await keys.create(principal, { name: 'other', scopes: ['api:admin'] })
  await start(minted.key)
  t.is(await database.get(apiKeys, { organizationId }, 'key_environment'), undefined)
  await keys.revoke(principal, minted.record.id)
  await t.throwsAsync(start(minted.key), {
    message: 'POSTERN_ADMIN_KEY is a key of this service that no longer has administrator access; choose another key.',
  })
  t.false(await works(minted.key))
})
