/** REST operations with the session of a browser: what is open to it, from where, for which organization, and how recently confirmed. */
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

/** A request as a script of the dashboard makes it, but for what `headers` change. */
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

test('who is signed in reads and changes what their role allows, without a key', async (t) => {
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

test('a key in the request counts more than the cookie beside it', async (t) => {
  const server = await startPageServer(t)
  const olga = await owner(server)
  const wrong = await ask(server, olga, '/v1/traces', { headers: { authorization: `Bearer svckey_${'b'.repeat(43)}` } })
  t.is(wrong.status, 401)
})

test('what changes something comes from a page of this service alone', async (t) => {
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
  t.is((await ask(server, olga, '/v1/inboxes')).data?.length, 1, 'the catch-all inbox alone')
})

test('keys, members and deletions need a session that was confirmed within ten minutes', async (t) => {
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

test('a member of several organizations names one; those of others are as if they were not there', async (t) => {
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
