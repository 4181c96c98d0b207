/** REST operations with a browser session: access, origin, organization, and recent confirmation. */
import test from '#test'
import { organizations } from '#core/tenancy/organization.ts'
import { members } from '#core/people/members/member.ts'
import { userByEmail } from '#core/people/users/user.ts'
import { Change } from '#store/change.ts'
import { startPageServer, type PageServer } from '../page-server.ts'
import { PageClient } from '../page-client.ts'

interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Sends a request like a script of the dashboard; `headers` change it. */
async function ask(server: PageServer, client: PageClient, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: { cookie: client.cookie, 'sec-fetch-site': 'same-origin', ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const parsed = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string; next_action: string }; data?: unknown[]; id?: string }
  return { ...parsed, status: response.status }
}

async function owner(server: PageServer): Promise<PageClient> {
  const client = new PageClient(server)
  await client.signIn('olga@example.ch')
  return client
}

test('session: a signed-in user has the access of the role without a key', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  t.is((await ask(server, olga, '/v1/traces')).status, 200)
  const made = await ask(server, olga, '/v1/inboxes', { method: 'POST', body: { address_pattern: 'qa@example.ch' } })
  t.is(made.status, 201)
  const sent = await ask(server, olga, '/v1/messages', { method: 'POST', body: { from: 'a@example.ch', to: 'b@example.ch', text: 'x' } })
  t.is(sent.status, 200)
  t.is((await ask(server, new PageClient(server), '/v1/traces')).status, 401)
  await olga.send('/organizations', '/sign-out')
  const cookie = olga.cookie
  t.is((await ask(server, olga, '/v1/traces')).status, 401, cookie)
})

test('session: a key in the request takes precedence over the cookie', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  const wrong = await ask(server, olga, '/v1/traces', { headers: { authorization: `Bearer svckey_${'b'.repeat(43)}` } })
  t.is(wrong.status, 401)
})

test('session: changes must come from a page of this service', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  const body = { address_pattern: 'qa@example.ch' }
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: server.url },
  ]) {
    const refused = await ask(server, olga, '/v1/inboxes', { method: 'POST', body, headers })
    t.is(refused.error?.code, 'insufficient_scope', JSON.stringify(headers))
  }
  const plain = await fetch(`${server.url}/v1/inboxes`, {
    method: 'POST',
    headers: { cookie: olga.cookie, origin: 'https://evil.example', 'content-type': 'text/plain' },
    body: JSON.stringify(body),
  })
  t.is(plain.status, 403)
  t.is((await ask(server, olga, '/v1/inboxes')).data?.length, 1, 'only the catch-all inbox')
})

test('session: keys, members and deletions need a confirmation within ten minutes', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  const wanted = { method: 'POST', body: { name: 'Shop', scopes: ['api:send'] } }
  t.is((await ask(server, olga, '/v1/api-keys', wanted)).status, 201)
  server.clock.advance(10 * 60_000)
  for (const [method, path, body] of [
    ['POST', '/v1/api-keys', wanted.body],
    ['POST', '/v1/smtp-credentials', {}],
    ['POST', '/v1/invitations', { email: 'ben@example.ch', role: 'viewer' }],
    ['DELETE', `/v1/organizations/${server.organizationId}`, undefined],
  ] as const) {
    const late = await ask(server, olga, path, { method, ...(body && { body }) })
    t.deepEqual([late.status, late.error?.next_action], [401, 'sign_in_again'], path)
  }
  t.is((await ask(server, olga, '/v1/traces')).status, 200)
})

test('session: members of several organizations select one; others are not found', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  const { database } = server
  const stored = await database.get(organizations, { organizationId: server.organizationId }, server.organizationId)
  const user = await userByEmail(database, 'olga@example.ch')
  if (!stored || !user) throw new Error('the organization or its owner is missing')
  const second = `org_${'0'.repeat(32)}`
  const membership = { id: user.record.id, organizationId: second, role: 'viewer' as const, joinedAt: server.clock.now() }
  await database.commit(new Change().insert(organizations, second, { ...stored.record, id: second }).insert(members, second, membership))
  t.is((await ask(server, olga, '/v1/traces')).error?.code, 'validation_failed')
  const inSecond = { 'x-organization-id': second }
  t.is((await ask(server, olga, '/v1/traces', { headers: inSecond })).status, 200)
  t.is((await ask(server, olga, '/v1/traces', { headers: { 'x-organization-id': server.organizationId } })).status, 200)
  t.is((await ask(server, olga, '/v1/traces', { headers: { 'x-organization-id': `org_${'1'.repeat(32)}` } })).status, 404)
  const asViewer = await ask(server, olga, '/v1/inboxes', { method: 'POST', body: { address_pattern: 'a@b.example' }, headers: inSecond })
  t.is(asViewer.error?.code, 'insufficient_scope')
})
