/** Anonymous sandboxes: permissions, limits and removal. */
import test from '#test'
import { keyUses } from '#core/access/keys/key-uses.ts'
import { Sandboxes } from '#core/oauth/endpoints/sandboxes.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, within } from '#store/tuple.ts'
import { outcomeOf } from './outcome.ts'
import { addDestination } from '../rest/fixture/rest-fixture.ts'
import { mcpResource, restResource, startOAuth, type Fields, type OAuthFixture } from './oauth-fixture.ts'
import { assertSound } from '../../support/problems.ts'

const hour = 3_600_000
const day = 24 * hour
const message = { from: 'a@example.ch', to: 'b@example.ch', subject: 'x', text: 'y' }

const refresh = (fixture: OAuthFixture, token: unknown, fields: Fields = {}) =>
  fixture.token({ grant_type: 'refresh_token', client_id: 'anonymous-bootstrap', refresh_token: String(token), ...fields })

test('sandbox: the bootstrap returns tokens and a new project', async (t) => {
  const fixture = await startOAuth(t)
  const { status, body } = await fixture.bootstrap()
  t.is(status, 200)
  t.deepEqual(Object.keys(body).toSorted(), ['access_token', 'expires_in', 'project_id', 'refresh_token', 'scope', 'token_type'])
  t.like(body, { token_type: 'Bearer', expires_in: 3600, scope: 'mcp:read mcp:send-sandbox' })
  t.regex(String(body['refresh_token']), /^rt_[\w-]{43}$/)
  const claims = JSON.parse(Buffer.from(String(body['access_token']).split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >
  t.like(claims, { sub: `anon:${String(body['project_id'])}`, aud: mcpResource, kind: 'anonymous', client_id: 'anonymous-bootstrap' })
  const bearer = await fixture.server.tokenCheck.bearer(String(body['access_token']), 'mcp')
  const reach = { organizationId: bearer.organizationId }
  t.like((await fixture.database.get(organizations, reach, bearer.organizationId))?.record, { plan: 'anonymous' })
  t.like((await fixture.database.get(projects, reach, bearer.projectId))?.record, { name: 'sandbox', status: 'anonymous', isDefault: true })
  const other = await fixture.bootstrap()
  t.not(other.body['project_id'], body['project_id'])
  await assertSound(t, fixture)
})

test('sandbox: captures mail, and reaches nothing else', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource, scope: 'api:admin' })
  t.is(body['scope'], 'api:read api:send', 'only the scopes of anonymous callers')
  const call = (path: string, method = 'GET', content?: unknown) => fixture.callRest(body['access_token'], path, method, content)
  t.like((await call('/v1/messages', 'POST', message)).body, { outcome: 'captured.anonymous_project' })
  const inboxes = (await call('/v1/inboxes')).body['data'] as { id: string }[]
  t.is(inboxes.length, 1)
  const captured = await call(`/v1/inboxes/${inboxes[0]?.id}/messages`)
  t.is((captured.body['data'] as unknown[]).length, 1)
  const [kept] = captured.body['data'] as { id: string }[]
  const release = `/v1/inboxes/${inboxes[0]?.id}/messages/${kept?.id}/release`
  const live = await addDestination(fixture.rest, {}, true)
  const released = await call(release, 'POST', { destination_id: live })
  t.deepEqual([released.status, (released.body['error'] as { code: string }).code], [400, 'validation_failed'], 'of another organization')
  for (const path of ['/v1/api-keys', '/v1/destinations', '/v1/smtp-credentials'])
    t.is((await call(path, 'POST', { name: 'x', scopes: ['api:read'] })).status, 403)
  const sent = await fixture.rest.must('POST', '/v1/messages', message)
  t.is((await call(`/v1/traces/${String(sent['trace_id'])}`)).status, 404)
  t.is((await call('/v1/messages', 'POST', { ...message, project_id: fixture.projectId })).status, 404)
})

test('sandbox: a narrow grant stays narrow and works on both surfaces', async (t) => {
  const fixture = await startOAuth(t)
  const narrow = await fixture.bootstrap({ scope: 'mcp:read' })
  t.is(narrow.body['scope'], 'mcp:read')
  t.is(outcomeOf(await refresh(fixture, narrow.body['refresh_token'], { scope: 'mcp:send-sandbox' })), '400 invalid_scope')
  t.is(outcomeOf(await refresh(fixture, narrow.body['refresh_token'], { resource: restResource })), '400 invalid_target')
  const whole = await fixture.bootstrap({ resource: restResource })
  const again = await refresh(fixture, whole.body['refresh_token'], { resource: mcpResource })
  t.is(again.body['scope'], 'mcp:read mcp:send-sandbox')
})

test('sandbox: five an hour and twenty a day per network, with a retry time', async (t) => {
  const fixture = await startOAuth(t)
  // to the beginning of a day, so that the windows start at a fixed time
  fixture.clock.advance(day - (fixture.clock.now() % day))
  const from = (address: string) => fixture.bootstrap({}, address)
  const many = async (address: string, times: number) => {
    const replies = await Promise.all(Array.from({ length: times }, () => from(address)))
    return replies.filter(({ status }) => status === 200).length
  }
  t.is(await many('192.0.2.7', 8), 5)
  const refused = await from('192.0.2.7')
  t.is(outcomeOf(refused), '429 temporarily_unavailable')
  t.is(refused.headers.get('retry-after'), '3600')
  t.is((await from('192.0.2.8')).status, 200)
  const made = [5]
  for (let hours = 0; hours < 4; hours++) {
    fixture.clock.advance(hour)
    made.push(await many('192.0.2.7', 6))
  }
  t.deepEqual(made, [5, 5, 5, 5, 0])
  t.is((await from('192.0.2.7')).headers.get('retry-after'), String(20 * 3600))
  fixture.clock.advance(20 * hour)
  t.is(await many('192.0.2.7', 6), 5)
  t.is(await many('2001:db8:1:2::1', 3), 3)
  t.is(await many('2001:db8:1:2:ffff::9', 6), 2, 'the same /64')
  t.is(await many('2001:db8:1:3::1', 6), 5)
})

test('sandbox: a refused bootstrap creates nothing; all networks share a limit', async (t) => {
  const fixture = await startOAuth(t)
  const limits = [{ max: 2, windowMs: day, isShared: true }]
  const sandboxes = new Sandboxes({ ...fixture.parts, limits })
  await sandboxes.make(['mcp:read'], 'mcp', '192.0.2.1')
  await sandboxes.make(['mcp:read'], 'mcp', '192.0.2.2')
  const before = await count(fixture, [])
  await t.throwsAsync(sandboxes.make(['mcp:read'], 'mcp', '192.0.2.3'), { message: 'Too many of these requests; try again later.' })
  t.is(await count(fixture, []), before)
  fixture.clock.advance(day)
  await t.notThrowsAsync(sandboxes.make(['mcp:read'], 'mcp', '192.0.2.3'))
})

/** Returns the number of rows below a key. */
async function count({ daemon, database }: OAuthFixture, prefix: readonly string[]): Promise<number> {
  await daemon.settled()
  let rows = 0
  const range = prefix.length === 0 ? { start: Buffer.of(0), end: Buffer.of(0xff) } : within(prefix)
  for await (const _row of database.kv.range(range)) rows++
  return rows
}

/** Returns the number of rows of the store, without findings about the service, which checks add and end. */
async function countAll(fixture: OAuthFixture): Promise<number> {
  const ofService = await Promise.all([['system'], ['', 'finding.open']].map((prefix) => count(fixture, prefix)))
  return (await count(fixture, [])) - ofService.reduce((sum, rows) => sum + rows, 0)
}

test('sandbox: deleted with all data a week after its last token', async (t) => {
  const fixture = await startOAuth(t)
  const untouched = await countAll(fixture)
  t.is((await fixture.database.all(keyUses, fixture)).length, 1, 'the use of the key is stored')
  const { body } = await fixture.bootstrap({ resource: restResource })
  t.is((await fixture.callRest(body['access_token'], '/v1/messages', 'POST', message)).status, 200)
  const { organizationId } = await fixture.server.tokenCheck.bearer(String(body['access_token']), 'rest')
  t.true((await count(fixture, [organizationId])) > 8)
  const { sandboxes } = fixture.server
  t.is(await sandboxes.sweep(), 0)
  fixture.clock.advance(6 * day)
  const next = await refresh(fixture, body['refresh_token'])
  t.is(next.status, 200)
  fixture.clock.advance(6 * day)
  t.is(await sandboxes.sweep(), 0, 'it was used again')
  t.like(await fixture.callRest(next.body['access_token']), { status: 401 })
  fixture.clock.advance(day)
  t.is(outcomeOf(await refresh(fixture, next.body['refresh_token'])), '400 invalid_grant', 'after seven idle days')
  const counters = await countersOf(fixture, organizationId, String(body['project_id']))
  t.true(counters.some((value) => value > 0))
  fixture.clock.advance(2 * hour)
  t.is(await sandboxes.sweep(), 1)
  t.is(await count(fixture, [organizationId]), 0)
  t.deepEqual(
    await countersOf(fixture, organizationId, String(body['project_id'])),
    counters.map(() => 0),
  )
  t.is(await count(fixture, ['', 'oauth_grant@id']), 0)
  t.is(await sandboxes.sweep(), 0)
  await fixture.database.sweep(fixture.clock.now())
  t.is(await countAll(fixture), untouched + signingKey - firstLink, 'no rows remain')
  await assertSound(t, fixture)
  t.is((await fixture.rest.call('GET', '/v1/projects/me')).status, 200)
})

/** The key that signed remains; the sign-in link of the first start and its expiry are gone. */
const firstLink = 2
const signingKey = 1

async function countersOf({ database, clock }: OAuthFixture, organizationId: string, projectId: string): Promise<number[]> {
  const values: number[] = []
  for (let back = 0; back < 15; back++) {
    const date = new Date(clock.now() - back * day).toISOString()
    for (const key of [
      ['sends', projectId, date.slice(0, 10)],
      ['plan_sends', date.slice(0, 10)],
      ['captures', projectId, date.slice(0, 7)],
    ])
      values.push(await database.kv.counter(pack([organizationId, 'counter', ...key])))
  }
  return values
}

test('sandbox: a claim during its removal keeps it', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap()
  const { organizationId } = await fixture.server.tokenCheck.bearer(String(body['access_token']), 'mcp')
  fixture.clock.advance(8 * day)
  const row = globalKey('oauth.sandbox', organizationId)
  const commit = async (change: Change) => {
    await fixture.database.commit(new Change().delete(row))
    return fixture.database.commit(change)
  }
  const database = Object.create(fixture.database, { commit: { value: commit } }) as Database
  const rows = await count(fixture, [organizationId])
  t.is(await new Sandboxes({ ...fixture.parts, database }).sweep(), 0)
  t.is(await count(fixture, [organizationId]), rows)
  t.is(await count(fixture, ['', 'oauth.sandbox']), 0)
})

test('sandbox: the next sweep retries a failed deletion', async (t) => {
  const fixture = await startOAuth(t)
  await fixture.bootstrap()
  fixture.clock.advance(8 * day)
  let commits = 0
  const commit = (change: Change) => (commits++ === 0 ? Promise.reject(new Error('broken')) : fixture.database.commit(change))
  const database = Object.create(fixture.database, { commit: { value: commit } }) as Database
  const sandboxes = new Sandboxes({ ...fixture.parts, database })
  await t.throwsAsync(sandboxes.sweep(), { message: 'broken' })
  t.is(await sandboxes.sweep(), 1)
})

test('sandbox: a claimed one is kept', async (t) => {
  const fixture = await startOAuth(t)
  const [kept, gone] = [await fixture.bootstrap(), await fixture.bootstrap()]
  const of = async ({ body }: Awaited<ReturnType<OAuthFixture['bootstrap']>>) =>
    (await fixture.server.tokenCheck.bearer(String(body['access_token']), 'mcp')).organizationId
  const [claimed, idle] = [await of(kept), await of(gone)]
  const project = (await fixture.database.all(projects, { organizationId: claimed }))[0]
  if (!project) return t.fail()
  await fixture.database.commit(new Change().replace(projects, claimed, project, { ...project.record, status: 'claimed' as const }))
  fixture.clock.advance(8 * day)
  t.is(await fixture.server.sandboxes.sweep(), 1)
  t.truthy(await fixture.database.get(organizations, { organizationId: claimed }, claimed))
  t.is(await count(fixture, [idle]), 0)
  t.is(await count(fixture, ['', 'oauth.sandbox']), 0)
})

test('access token: invalid at once after project or organization are deleted', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.bootstrap({ resource: restResource })
  const { organizationId } = await fixture.server.tokenCheck.bearer(String(body['access_token']), 'rest')
  t.is((await fixture.callRest(body['access_token'])).status, 200)
  const stored = await fixture.database.get(organizations, { organizationId }, organizationId)
  if (!stored) return t.fail()
  const deleted = { ...stored.record, deletedAt: fixture.clock.now() }
  await fixture.database.commit(new Change().replace(organizations, organizationId, stored, deleted))
  t.is((await fixture.callRest(body['access_token'])).status, 401)
})
