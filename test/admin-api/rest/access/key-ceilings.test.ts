/** Keys that members and their applications create: maximum access, and end. */
import test, { type ExecutionContext } from '#test'
import type { Role } from '#core/access/principal/role.ts'
import type { RestClient } from '../../../support/daemon/rest.ts'
import { startOAuth, type OAuthFixture } from '../../oauth/oauth-fixture.ts'
import { errorOf, loopback, objectOf } from '../fixture/rest-fixture.ts'
import { column, columns } from '../../../support/column.ts'

interface Minted {
  readonly id: string
  readonly client: RestClient
}

interface Setup extends OAuthFixture {
  /** A member who authorized the application of the fixture. */
  join(email: string, role: Role): Promise<{ readonly userId: string; readonly agent: RestClient; readonly refreshToken: string }>
  mint(by: RestClient, changes?: object): Promise<Minted>
  suppression(): Promise<string>
}

async function setUp(t: ExecutionContext): Promise<Setup> {
  const fixture = await startOAuth(t)
  let suppressed = 0
  return {
    ...fixture,
    async join(email, role) {
      const userId = await fixture.addMember(email, role)
      const tokens = await fixture.signIn({ scope: 'api:read api:send api:admin' }, { user: userId, scopes: 'api:read api:send api:admin' })
      return { userId, agent: fixture.client(String(tokens['access_token'])), refreshToken: String(tokens['refresh_token']) }
    },
    async mint(by, changes = {}) {
      const { id, key } = await by.must('POST', '/v1/api-keys', { name: 'site', scopes: ['api:admin'], ...changes })
      return { id: String(id), client: fixture.client(String(key)) }
    },
    suppression: async () =>
      String((await fixture.rest.must('POST', '/v1/suppressions', { email: `person${++suppressed}@example.org` }))['id']),
  }
}

const statusOf = async (client: RestClient, path = '/v1/projects/me'): Promise<number> => (await client.call('GET', path)).status
const send = async (client: RestClient): Promise<number> =>
  (await client.call('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.org', text: 'x' })).status
const unsuppress = async (client: RestClient, id: string): Promise<number> => (await client.call('DELETE', `/v1/suppressions/${id}`)).status

test('keys of a developer, and keys created with such keys, have at most developer access', async (t) => {
  const { join, mint, suppression, rest } = await setUp(t)
  const { agent, userId } = await join('dev@example.ch', 'developer')
  const first = await mint(agent)
  const second = await mint(first.client)
  const entry = await suppression()
  for (const client of [agent, first.client, second.client]) {
    t.is(await send(client), 200)
    t.is(await unsuppress(client, entry), 403)
  }
  t.is(await unsuppress(rest, entry), 204)
  const application = { client_id: 'https://client.example.net/oauth/client.json', name: 'Agent' }
  t.like(await rest.must('GET', `/v1/api-keys/${first.id}`), {
    minted_by: { user_id: userId, role: 'developer', application, api_key_id: null },
    ends_with: 'application',
    kept_at: null,
  })
  t.like(await rest.must('GET', `/v1/api-keys/${second.id}`), {
    minted_by: { user_id: userId, role: 'developer', application, api_key_id: first.id },
    ends_with: 'application',
  })
})

test('a lower role limits existing keys immediately; a higher role does not widen them', async (t) => {
  const { join, mint, suppression, rest } = await setUp(t)
  const { agent, userId } = await join('dev@example.ch', 'developer')
  const { id, client } = await mint(agent)
  const become = (role: Role) => rest.must('PATCH', `/v1/members/${userId}`, { role })
  const ceiling = async () => ((await rest.must('GET', `/v1/api-keys/${id}`))['minted_by'] as { role: Role }).role
  t.is(await send(client), 200)

  await become('viewer')
  t.is(await statusOf(client), 200)
  const refused = await client.call('POST', '/v1/messages', { from: 'shop@example.ch', to: 'ada@example.org', text: 'x' })
  t.is(refused.status, 403)
  t.is(
    errorOf(refused).message,
    'This requires the scope api:send; the key has api:read, limited to the role viewer of the member who created it.',
  )
  t.is(await ceiling(), 'viewer')

  await become('billing')
  t.is(await statusOf(client), 403)

  await become('admin')
  t.is(await send(client), 200)
  t.is(await unsuppress(client, await suppression()), 403)
  t.is(await ceiling(), 'developer')
})

test('a developer cannot rotate a key with more access', async (t) => {
  const { join, mint, rest, projectId } = await setUp(t)
  const { agent } = await join('dev@example.ch', 'developer')
  const { agent: admin } = await join('admin@example.ch', 'admin')
  for (const { id } of [await mint(rest, { project_id: projectId }), await mint(admin)]) {
    const answer = await agent.call('POST', `/v1/api-keys/${id}/rotate`)
    t.is(errorOf(answer).code, 'insufficient_scope', id)
  }
  const own = await mint(agent)
  t.is((await agent.call('POST', `/v1/api-keys/${own.id}/rotate`)).status, 200)
  // The role limit follows the creator of the key, not the holder of its secret.
  const rotated = objectOf(await rest.call('POST', `/v1/api-keys/${own.id}/rotate`))
  t.like(rotated['minted_by'], { role: 'developer' })
})

test('a key kept after a demotion has the lower limit, also after a later promotion', async (t) => {
  const { join, mint, suppression, rest } = await setUp(t)
  const { agent, userId } = await join('admin@example.ch', 'admin')
  const { id, client } = await mint(agent)
  await rest.must('PATCH', `/v1/members/${userId}`, { role: 'developer' })
  t.like(await rest.must('PATCH', `/v1/api-keys/${id}`, { kept: true }), { minted_by: { role: 'developer' } })
  await rest.must('PATCH', `/v1/members/${userId}`, { role: 'admin' })
  t.is(await unsuppress(client, await suppression()), 403)
})

test('rotation is refused if the key outlasts the caller', async (t) => {
  const { join, mint, rest, projectId } = await setUp(t)
  const { agent } = await join('admin@example.ch', 'admin')
  const { agent: colleague } = await join('other@example.ch', 'admin')
  const own = await mint(agent)
  const kept = await mint(agent)
  await rest.must('PATCH', `/v1/api-keys/${kept.id}`, { kept: true })
  const sites = { name: 'sites', scopes: undefined, send_only: true, project_id: projectId }
  const lasting = [await mint(rest, { project_id: projectId }), await mint(colleague), await mint(rest, sites), kept]
  for (const requester of [agent, own.client]) {
    for (const { id, client } of lasting) {
      const { status, body } = await requester.call('POST', `/v1/api-keys/${id}/rotate`)
      t.is(status, 403, JSON.stringify(body))
      t.not(await statusOf(client), 401)
    }
  }
  t.is((await agent.call('POST', `/v1/api-keys/${own.id}/rotate`)).status, 200)
  for (const { id } of [...lasting, own]) t.is((await rest.call('POST', `/v1/api-keys/${id}/rotate`)).status, 200)
})

test('only an administrator may extend a key that outlasts the caller', async (t) => {
  const { join, mint, rest, projectId, clock } = await setUp(t)
  const { agent } = await join('dev@example.ch', 'developer')
  const at = (days: number): string => new Date(clock.now() + days * 86_400_000).toISOString()
  const ends = async (requester: RestClient, { id }: Minted, expires_at: string | null): Promise<number> =>
    (await requester.call('PATCH', `/v1/api-keys/${id}`, { expires_at })).status
  const own = await mint(agent, { expires_at: at(7) })
  const lent = await mint(rest, { project_id: projectId, expires_at: at(7) })
  for (const requester of [agent, own.client]) {
    t.is(await ends(requester, lent, null), 403)
    t.is(await ends(requester, lent, at(8)), 403)
    t.is(await ends(requester, lent, at(6)), 200, 'a caller who may revoke a key may shorten its life')
    t.is(await ends(requester, own, at(9)), 200, 'a key that ends with its creator may be extended')
    t.is(await ends(rest, lent, at(7)), 200)
  }
  t.is(await ends(rest, lent, null), 200)
})

test('an expiring key cannot create, extend or rotate keys that last longer', async (t) => {
  const { mint, rest, projectId, clock } = await setUp(t)
  const at = (days: number): string => new Date(clock.now() + days * 86_400_000).toISOString()
  const lent = await mint(rest, { project_id: projectId, expires_at: at(7) })
  const lasting = await mint(rest, { project_id: projectId })
  const refused = async (method: Parameters<RestClient['call']>[0], path: string, body?: object): Promise<void> => {
    const answer = await lent.client.call(method, path, body)
    t.is(errorOf(answer).code, 'insufficient_scope', `${method} ${path} ${JSON.stringify(body)}`)
  }
  await refused('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'], expires_at: at(8) })
  for (const expires_at of [at(8), null]) await refused('PATCH', `/v1/api-keys/${lent.id}`, { expires_at })
  await refused('POST', `/v1/api-keys/${lasting.id}/rotate`)
  t.is(await statusOf(lasting.client), 200)
  const ofLent = async (body: object) =>
    (await lent.client.must('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'], ...body }))['expires_at']
  t.is(await ofLent({}), at(7))
  t.is(await ofLent({ expires_at: null }), at(7))
  t.is(await ofLent({ expires_at: at(6) }), at(6))
  const child = await mint(lent.client, { expires_at: at(5) })
  t.is((await lent.client.call('PATCH', `/v1/api-keys/${child.id}`, { expires_at: at(7) })).status, 200)
  t.is(
    (await child.client.call('PATCH', `/v1/api-keys/${lent.id}`, { expires_at: at(6) })).status,
    200,
    'a caller who may revoke a key may shorten its life',
  )
  t.is((await lent.client.call('POST', `/v1/api-keys/${lent.id}/rotate`)).status, 200)
  // An administrator of the whole organization may create keys that outlast the key of the request.
  const administrator = await mint(rest, { expires_at: at(7) })
  t.is((await administrator.client.must('POST', '/v1/api-keys', { name: 'next', scopes: ['api:admin'] }))['expires_at'], null)
})

test('names: blanks count as empty, and blanks at the ends are removed', async (t) => {
  const { rest } = await setUp(t)
  const named = (name: string) => rest.call('POST', '/v1/api-keys', { name, scopes: ['api:read'] })
  for (const name of ['', '   ', '\u3000']) t.regex(errorOf(await named(name)).message, /^name: /)
  t.is(objectOf(await named(' Shop '))['name'], 'Shop')
  const bodies = { projects: {}, inboxes: { address_pattern: 'a@b.test' }, destinations: loopback, organizations: {} }
  for (const [path, body] of Object.entries(bodies))
    t.regex(errorOf(await rest.call('POST', `/v1/${path}`, { ...body, name: '  ' })).message, /^name: /, path)
})

test('removing a member lists the keys they created and ends all except kept keys', async (t) => {
  const { join, mint, suppression, rest, projectId } = await setUp(t)
  const { agent, userId } = await join('dev@example.ch', 'developer')
  const { agent: colleague } = await join('other@example.ch', 'developer')
  const [doomed, kept, others] = [await mint(agent, { name: 'doomed' }), await mint(agent, { name: 'kept' }), await mint(colleague)]
  const child = await mint(doomed.client, { name: 'child' })
  const sites = await mint(agent, { name: 'sites', scopes: undefined, send_only: true })
  const credential = await agent.must('POST', '/v1/smtp-credentials', {})

  const named = (await rest.must('GET', `/v1/api-keys?minted_by=${userId}`))['data'] as { name: string }[]
  t.deepEqual(column(named, 'name'), ['sites', 'child', 'kept', 'doomed'])
  const stray = await rest.call('DELETE', `/v1/members/${userId}?keep_keys=${others.id}`)
  t.is(errorOf(stray).message, `keep_keys: ${others.id} is not among the keys that would be revoked`)
  t.is(await statusOf(doomed.client), 200)
  // A member cannot keep their own key.
  t.is((await agent.call('PATCH', `/v1/api-keys/${doomed.id}`, { kept: true })).status, 403)

  const fates = (await rest.must('DELETE', `/v1/members/${userId}?keep_keys=${kept.id}`)) as {
    ended_keys: { name: string; project_id: string }[]
    kept_keys: { id: string }[]
  }
  t.deepEqual(
    columns(fates.ended_keys, 'name', 'project_id'),
    ['sites', 'child', 'doomed'].map((name) => [name, projectId]),
  )
  t.deepEqual(column(fates.kept_keys, 'id'), [kept.id])
  for (const gone of [doomed, child, agent]) t.is(await statusOf('client' in gone ? gone.client : gone), 401)
  t.is(await send(sites.client), 401)
  t.like(await rest.must('GET', `/v1/api-keys/${doomed.id}`), { status: 'revoked' })
  t.is(await send(others.client), 200)

  t.is(await send(kept.client), 200)
  t.is(await unsuppress(kept.client, await suppression()), 403)
  t.like(await rest.must('GET', `/v1/api-keys/${kept.id}`), { status: 'active', ends_with: 'nothing', minted_by: { role: 'developer' } })
  const heir = await mint(kept.client)
  t.is(await unsuppress(heir.client, await suppression()), 403)
  // A credential belongs to its project, not to its creator.
  t.is((await rest.call('GET', `/v1/smtp-credentials/${String(credential['id'])}`)).status, 200)

  const acts = (await rest.must('GET', `/v1/audit?actor=key_environment`))['data'] as { act: string; target: string }[]
  const told = (act: string) => acts.filter((entry) => entry.act === act).map(({ target }) => target)
  t.deepEqual(told('api_key.revoked').toSorted(), [doomed.id, child.id, sites.id].toSorted())
  t.deepEqual(told('api_key.kept'), [kept.id])
  t.false(JSON.stringify(await rest.must('GET', '/v1/api-keys')).includes('svckey_' + 'a'.repeat(43)))
})

test('revoking an application ends the keys that it created, except kept keys', async (t) => {
  const { join, mint, post, rest } = await setUp(t)
  const { agent, refreshToken } = await join('dev@example.ch', 'developer')
  const doomed = await mint(agent)
  const kept = await mint(agent)
  t.like(await rest.must('PATCH', `/v1/api-keys/${kept.id}`, { kept: true }), { ends_with: 'nothing' })
  await post('/oauth/revoke', { token: refreshToken, client_id: 'https://client.example.net/oauth/client.json' })
  t.is(await statusOf(agent), 401)
  t.is(await statusOf(doomed.client), 401)
  t.is(await send(kept.client), 200)
})

test('updateApiKey changes name and expiry; last_used_at shows the last use', async (t) => {
  const { rest, mint, clock } = await setUp(t)
  const { id, client: key } = await mint(rest, { scopes: ['api:read'] })
  const shown = () => rest.must('GET', `/v1/api-keys/${id}`)
  t.like(await shown(), { last_used_at: null, minted_by: { user_id: null, role: null, application: null, api_key_id: 'key_environment' } })
  const expires_at = new Date(clock.now() + 3_600_000).toISOString()
  t.like(await rest.must('PATCH', `/v1/api-keys/${id}`, { name: 'Reports', expires_at }), { name: 'Reports', expires_at })
  t.like(await rest.must('PATCH', `/v1/api-keys/${id}`, { expires_at: null }), { name: 'Reports', expires_at: null })
  const past = await rest.call('PATCH', `/v1/api-keys/${id}`, { expires_at: new Date(clock.now()).toISOString() })
  t.regex(errorOf(past).message, /^expires_at: must be in the future/)
  const first = new Date(clock.now()).toISOString()
  t.is(await statusOf(key), 200)
  t.like(await shown(), { last_used_at: first })
  await rest.must('DELETE', `/v1/api-keys/${id}`)
  t.is((await rest.call('PATCH', `/v1/api-keys/${id}`, { name: 'x' })).status, 409)
})
