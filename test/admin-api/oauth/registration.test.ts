/** Registered clients: the response, the limits, and the removal of unused clients. */
import test from '#test'
import { ask, outcomeOf } from './outcome.ts'
import { redirectUri, startOAuth, type OAuthFixture } from './oauth-fixture.ts'

const day = 86_400_000
const register = (fixture: OAuthFixture, metadata: object = { redirect_uris: [redirectUri] }, address = '192.0.2.1') =>
  fixture.post('/oauth/register', JSON.stringify(metadata), { 'content-type': 'application/json', 'x-forwarded-for': address })

test('registration: returns all metadata of the client', async (t) => {
  const fixture = await startOAuth(t)
  const metadata = {
    redirect_uris: [redirectUri],
    client_name: 'Agent',
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    scope: 'mcp:read',
  }
  const { status, headers, body } = await register(fixture, metadata)
  t.is(status, 201)
  t.is(headers.get('cache-control'), 'no-store')
  const { client_id: id, client_id_issued_at: at, ...rest } = body
  t.regex(String(id), /^client_[\w-]{43}$/)
  t.is(at, Math.floor(fixture.clock.now() / 1000))
  t.deepEqual(rest, {
    client_name: 'Agent',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  })
})

test('registration: a secret is shown once and stored as a hash', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await register(fixture, { redirect_uris: [redirectUri], token_endpoint_auth_method: 'client_secret_post' })
  t.regex(String(body['client_secret']), /^[\w-]{43}$/)
  t.is(body['client_secret_expires_at'], 0)
  let rows = ''
  for await (const { value } of fixture.database.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))
    rows += Buffer.from(value).toString('utf8')
  t.true(rows.includes(String(body['client_id'])))
  t.false(rows.includes(String(body['client_secret'])))
})

test('registration: ten an hour from one network', async (t) => {
  const fixture = await startOAuth(t)
  const replies = await Promise.all(Array.from({ length: 12 }, () => register(fixture)))
  t.is(replies.filter(({ status }) => status === 201).length, 10)
  const refused = await register(fixture)
  t.is(outcomeOf(refused), '429 temporarily_unavailable')
  t.true(Number(refused.headers.get('retry-after')) <= 3600)
  t.is((await register(fixture, undefined, '192.0.2.2')).status, 201)
  fixture.clock.advance(3_600_000)
  t.is((await register(fixture)).status, 201)
})

test('registration: a client without approval is deleted after a day', async (t) => {
  const fixture = await startOAuth(t)
  const metadata = { redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' }
  const [used, unused] = [await register(fixture, metadata), await register(fixture, metadata)].map(({ body }) => String(body['client_id']))
  const tokens = await fixture.signIn({ client_id: used })
  fixture.clock.advance(day - 1)
  t.is(await ask(fixture, fixture.request({ client_id: unused }).query), 'asked')
  fixture.clock.advance(1)
  t.is(await ask(fixture, fixture.request({ client_id: unused }).query), 'page invalid_client')
  await fixture.database.sweep(fixture.clock.now() + 1)
  t.is(await ask(fixture, fixture.request({ client_id: used }).query), 'asked')
  const refreshed = await fixture.token({ grant_type: 'refresh_token', client_id: used, refresh_token: String(tokens['refresh_token']) })
  t.is(refreshed.status, 200)
  let rows = ''
  for await (const { value } of fixture.database.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))
    rows += Buffer.from(value).toString('utf8')
  t.false(rows.includes(unused ?? 'none'))
})

test('storage: codes and refresh tokens are hashed and expire', async (t) => {
  const fixture = await startOAuth(t)
  const { query } = fixture.request()
  const code = (await fixture.approve(query)).searchParams.get('code') ?? ''
  const tokens = await fixture.signIn()
  const all = async () => {
    let text = ''
    for await (const { key, value } of fixture.database.kv.range({ start: Buffer.of(0), end: Buffer.of(0xff) }))
      text += Buffer.from(key).toString('latin1') + Buffer.from(value).toString('latin1')
    return text
  }
  const stored = await all()
  for (const secret of [code, tokens['refresh_token'], tokens['access_token']]) t.false(stored.includes(String(secret)))
  t.true(stored.includes('oauth.code') && stored.includes('oauth.refresh-token'))
  fixture.clock.advance(31 * day)
  await fixture.database.sweep(fixture.clock.now() + 1)
  const left = await all()
  t.false(left.includes('oauth.code') || left.includes('oauth.refresh-token'))
})
