import test from '#test'
import { adminKey, errorOf, objectOf, refusal, startFixture } from '../fixture/rest-fixture.ts'
import { columns } from '../../../support/column.ts'

const unknownKey = [401, 'unauthorized', 'This API key is unknown, expired or revoked; use an active one.'] as const

test('createApiKey shows the key once, and the key works with its scopes', async (t) => {
  const { rest, client } = await startFixture(t)
  const made = await rest.call('POST', '/v1/api-keys', { name: 'Shop', scopes: ['api:read'] })
  t.is(made.status, 201)
  const { id, key, preview, ...shown } = objectOf(made)
  t.regex(String(key), /^svckey_[A-Za-z0-9_-]{43}$/)
  t.is(preview, `${String(key).slice(0, 11)}…${String(key).slice(-4)}`)
  t.like(shown, { name: 'Shop', scopes: ['api:read'], project_id: null, status: 'active', expires_at: null, revoked_at: null })
  const listed = await rest.must('GET', '/v1/api-keys')
  t.false(JSON.stringify(listed).includes(String(key)))
  t.like((listed['data'] as Record<string, unknown>[])[1], { id, name: 'Shop' })

  const reader = client(String(key))
  t.is((await reader.call('GET', '/v1/projects/me')).status, 200)
  const denied = await reader.call('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'] })
  t.deepEqual(refusal(denied), [403, 'insufficient_scope', 'This requires the scope api:admin; the key has api:read.'])
})

test('authentication: unknown, malformed, expired and revoked keys get the same answer', async (t) => {
  const { rest, client, clock } = await startFixture(t)
  const expires_at = new Date(clock.now() + 60_000).toISOString()
  const expiring = objectOf(await rest.call('POST', '/v1/api-keys', { name: 'a', scopes: ['api:read'], expires_at }))
  clock.advance(1)
  const revoked = objectOf(await rest.call('POST', '/v1/api-keys', { name: 'b', scopes: ['api:read'] }))
  const [first, second] = [client(String(expiring['key'])), client(String(revoked['key']))]
  t.is((await first.call('GET', '/v1/projects/me')).status, 200)
  t.is((await second.call('GET', '/v1/projects/me')).status, 200)
  clock.advance(60_000)
  await rest.must('DELETE', `/v1/api-keys/${String(revoked['id'])}`)
  for (const one of [first, second, client('svckey_short'), client(`svckey_${'b'.repeat(43)}`), client(`${adminKey}a`)])
    t.deepEqual(refusal(await one.call('GET', '/v1/projects/me')), unknownKey)
  const rows = (await rest.must('GET', '/v1/api-keys'))['data'] as Record<string, unknown>[]
  t.deepEqual(columns(rows, 'name', 'status'), [
    ['POSTERN_ADMIN_KEY', 'active'],
    ['b', 'revoked'],
    ['a', 'expired'],
  ])
})

test('rotateApiKey ends the old secret immediately', async (t) => {
  const { rest, client } = await startFixture(t)
  const before = objectOf(await rest.call('POST', '/v1/api-keys', { name: 'a', scopes: ['api:send'] }))
  const old = client(String(before['key']))
  t.is((await old.call('GET', '/v1/projects/me')).status, 200)
  const after = objectOf(await rest.call('POST', `/v1/api-keys/${String(before['id'])}/rotate`))
  t.is(after['id'], before['id'])
  t.not(after['key'], before['key'])
  t.deepEqual(refusal(await old.call('GET', '/v1/projects/me')), unknownKey)
  t.is((await client(String(after['key'])).call('GET', '/v1/projects/me')).status, 200)

  const environment = await rest.call('POST', '/v1/api-keys/key_environment/rotate')
  t.deepEqual(refusal(environment), [
    409,
    'conflict',
    'This key is set by POSTERN_ADMIN_KEY; change it there and restart, or create another key.',
  ])
  await rest.must('DELETE', `/v1/api-keys/${String(before['id'])}`)
  const revoked = await rest.call('POST', `/v1/api-keys/${String(before['id'])}/rotate`)
  t.deepEqual(refusal(revoked), [409, 'conflict', 'This API key is revoked; create a new one.'])
})

test('revokeApiKey is idempotent and refuses to revoke the last administrator key', async (t) => {
  const { rest, clock } = await startFixture(t)
  const last = await rest.call('DELETE', '/v1/api-keys/key_environment')
  t.deepEqual(refusal(last), [
    409,
    'conflict',
    'This is the last active key with api:admin for the whole organization; create another one first.',
  ])
  const other = objectOf(await rest.call('POST', '/v1/api-keys', { name: 'a', scopes: ['api:admin'] }))
  const path = `/v1/api-keys/${String(other['id'])}`
  const first = objectOf(await rest.call('DELETE', path))
  clock.advance(1000)
  t.deepEqual(objectOf(await rest.call('DELETE', path)), first)
  t.is(first['status'], 'revoked')
  t.deepEqual(refusal(await rest.call('DELETE', '/v1/api-keys/key_none')), [404, 'not_found', 'No API key has this id.'])
})

test('two administrator keys that revoke each other at the same time: one remains', async (t) => {
  const { rest, withKey } = await startFixture(t)
  const other = await withKey(['api:admin'])
  const rows = (await rest.must('GET', '/v1/api-keys'))['data'] as { id: string }[]
  const id = rows.find((row) => row.id !== 'key_environment')?.id ?? ''
  const answers = await Promise.all([rest.call('DELETE', `/v1/api-keys/${id}`), other.call('DELETE', '/v1/api-keys/key_environment')])
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409],
  )
})

test('a project-bound key sees neither other projects nor keys of the organization', async (t) => {
  const { rest, withKey, addProject } = await startFixture(t)
  const projectId = await addProject()
  const bound = await withKey(['api:admin'], projectId)
  t.like(await bound.must('GET', '/v1/projects/me'), { project_id: projectId })
  const minted = await bound.must('POST', '/v1/api-keys', { name: 'inner', scopes: ['api:read'] })
  t.is(minted['project_id'], projectId)
  const rows = (await bound.must('GET', '/v1/api-keys'))['data'] as { project_id: string }[]
  t.is(rows.length, 2)
  t.true(rows.every((row) => row.project_id === projectId))
  for (const [method, path] of [
    ['DELETE', '/v1/api-keys/key_environment'],
    ['POST', '/v1/api-keys/key_environment/rotate'],
  ] as const)
    t.deepEqual(refusal(await bound.call(method, path)), [404, 'not_found', 'No API key has this id.'])
  const own = (await rest.must('GET', '/v1/projects/me'))['project_id']
  const out = await bound.call('POST', '/v1/api-keys', { name: 'x', scopes: ['api:read'], project_id: own })
  t.deepEqual(refusal(out), [404, 'not_found', 'project_id: no project has this id; leave it out to use the project of your key.'])
})

test('createApiKey names the invalid field', async (t) => {
  const { rest, clock } = await startFixture(t)
  const wrong = async (body: unknown) => errorOf(await rest.call('POST', '/v1/api-keys', body)).message
  t.is(await wrong({ scopes: ['api:read'] }), 'name: is required')
  t.is(await wrong({ name: 'a\nb', scopes: ['api:read'] }), 'name: must be on one line, without control characters')
  t.is(await wrong({ name: 'a', scopes: [] }), 'scopes: must not be empty')
  t.is(await wrong({ name: 'a', scopes: ['api:all'] }), 'scopes[0]: must be one of api:read, api:send, api:admin')
  t.is(await wrong({ name: 'a', scopes: ['api:read'], expires_at: 'soon' }), 'expires_at: must be a time such as 2026-11-21T13:00:00Z')
  t.is(
    await wrong({ name: 'a', scopes: ['api:read'], expires_at: new Date(clock.now()).toISOString() }),
    'expires_at: must be in the future; use null for a key that does not expire',
  )
})
