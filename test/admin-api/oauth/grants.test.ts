/** The end of a grant ends everything of it: replays, races, revocation. */
import test from '#test'
import { oauthGrants } from '#core/oauth/grants/grant.ts'
import { Parameters } from '#core/oauth/protocol/parameters.ts'
import type { OAuthScope } from '#core/oauth/protocol/scopes.ts'
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { oauthServer } from '../../../daemon/composition/oauth-core.ts'
import { outcomeOf } from './outcome.ts'
import { documentOf, encode, mcpResource, restResource, startOAuth, webClientId, type OAuthFixture, type Reply } from './oauth-fixture.ts'
import { assertSound } from '../../support/problems.ts'

const refresh = (fixture: OAuthFixture, token: unknown, fields = {}): Promise<Reply> =>
  fixture.token({ grant_type: 'refresh_token', client_id: webClientId, refresh_token: String(token), ...fields })

/** Returns the fields that exchange a new code for tokens. */
async function exchangeOf(fixture: OAuthFixture, asked: Readonly<Record<string, string | readonly string[]>> = {}) {
  const { query, verifier } = fixture.request(asked)
  const code = (await fixture.approve(query)).searchParams.get('code') ?? ''
  return { grant_type: 'authorization_code', client_id: webClientId, code, code_verifier: verifier, redirect_uri: query['redirect_uri'] }
}

test('code: a second use ends its grant', async (t) => {
  const fixture = await startOAuth(t)
  const fields = await exchangeOf(fixture)
  const first = await fixture.token(fields)
  const next = await refresh(fixture, first.body['refresh_token'])
  t.is((await fixture.callRest(next.body['access_token'])).status, 200)
  fixture.clock.advance(3_600_000)
  t.is(outcomeOf(await fixture.token({ ...fields, code_verifier: 'x'.repeat(43) })), '400 invalid_grant', 'for any client')
  t.is((await fixture.callRest(next.body['access_token'])).status, 401)
  t.is(outcomeOf(await refresh(fixture, next.body['refresh_token'])), '400 invalid_grant')
})

test('code: of ten concurrent exchanges one succeeds, and the others end the grant', async (t) => {
  const fixture = await startOAuth(t)
  const fields = await exchangeOf(fixture)
  const replies = await Promise.all(Array.from({ length: 10 }, () => fixture.token(fields)))
  t.is(replies.filter(({ status }) => status === 200).length, 1)
  t.is(replies.filter((reply) => outcomeOf(reply) === '400 invalid_grant').length, 9)
  const won = replies.find(({ status }) => status === 200)
  t.is((await fixture.callRest(won?.body['access_token'])).status, 401)
})

test('refresh: of ten concurrent uses one succeeds, and the others revoke the grant', async (t) => {
  const fixture = await startOAuth(t)
  const { refresh_token: token } = await fixture.signIn()
  const replies = await Promise.all(Array.from({ length: 10 }, () => refresh(fixture, token)))
  t.is(replies.filter(({ status }) => status === 200).length, 1)
  t.is(replies.filter((reply) => outcomeOf(reply) === '400 invalid_grant').length, 9)
  const won = replies.find(({ status }) => status === 200)
  t.is((await fixture.callRest(won?.body['access_token'])).status, 401)
  t.is(outcomeOf(await refresh(fixture, won?.body['refresh_token'])), '400 invalid_grant')
})

test('refresh: a second use ends its grant and no other', async (t) => {
  const fixture = await startOAuth(t)
  const [one, other] = [await fixture.signIn(), await fixture.signIn()]
  const next = await refresh(fixture, one['refresh_token'])
  t.is((await fixture.callRest(one['access_token'])).status, 200, 'the previous access token is still valid')
  t.is(outcomeOf(await refresh(fixture, one['refresh_token'])), '400 invalid_grant')
  for (const token of [one['access_token'], next.body['access_token']]) t.is((await fixture.callRest(token)).status, 401)
  t.is(outcomeOf(await refresh(fixture, next.body['refresh_token'])), '400 invalid_grant')
  t.deepEqual(fixture.daemon.log.map(({ reused }) => reused).filter(Boolean), ['refresh token'])
  t.is((await fixture.callRest(other['access_token'])).status, 200)
  t.is((await refresh(fixture, other['refresh_token'])).status, 200)
})

test('refresh: switches between granted resources without a change of the grant', async (t) => {
  const fixture = await startOAuth(t)
  const fields = await exchangeOf(fixture, { resource: [restResource, mcpResource], scope: 'api:read mcp:read mcp:send' })
  let reply = await fixture.token({ ...fields, resource: restResource })
  const scopes: unknown[] = [reply.body['scope']]
  for (const asked of [{}, { resource: mcpResource, scope: 'mcp:read' }, {}, { resource: restResource }]) {
    reply = await refresh(fixture, reply.body['refresh_token'], asked)
    scopes.push(reply.body['scope'])
  }
  t.deepEqual(scopes, ['api:read', 'api:read', 'mcp:read', 'mcp:read mcp:send', 'api:read'])
  t.is((await fixture.callRest(reply.body['access_token'])).status, 200)
})

test('refresh: clients without the grant type get no refresh token', async (t) => {
  const fixture = await startOAuth(t)
  const id = 'https://client.example.net/once.json'
  const [document] = fixture.web.values()
  const text = JSON.stringify({ ...JSON.parse(document?.text ?? ''), client_id: id, grant_types: ['authorization_code'] })
  if (document) fixture.web.set(id, { ...document, text })
  const tokens = await fixture.signIn({ client_id: id })
  t.false('refresh_token' in tokens)
  t.is((await fixture.callRest(tokens['access_token'])).status, 200)
})

test('refresh: works after the client document is gone', async (t) => {
  const fixture = await startOAuth(t)
  const { refresh_token: token } = await fixture.signIn()
  fixture.web.clear()
  fixture.clock.advance(86_400_000)
  t.is((await refresh(fixture, token)).status, 200)
})

test('grant: narrowing applies to running tokens, widening to the next token', async (t) => {
  const fixture = await startOAuth(t)
  const tokens = await fixture.signIn({ scope: 'api:send' })
  const change = async (scopes: readonly OAuthScope[]) => {
    const [stored] = await fixture.database.all(oauthGrants, { organizationId: fixture.organizationId })
    if (stored)
      await fixture.database.commit(new Change().replace(oauthGrants, fixture.organizationId, stored, { ...stored.record, scopes }))
  }
  const permissionsOf = async (token: unknown) => (await fixture.server.tokenCheck.restPrincipal(String(token))).scopes
  t.deepEqual(await permissionsOf(tokens['access_token']), ['api:read', 'api:send'])
  await change(['api:read'])
  t.deepEqual(await permissionsOf(tokens['access_token']), ['api:read'])
  await change(['api:admin'])
  t.deepEqual(await permissionsOf(tokens['access_token']), ['api:read', 'api:send'])
  const next = await refresh(fixture, tokens['refresh_token'])
  t.deepEqual(await permissionsOf(next.body['access_token']), ['api:read', 'api:send', 'api:admin'])
})

test('refresh: fails during a concurrent revocation', async (t) => {
  const fixture = await startOAuth(t)
  const tokens = await fixture.signIn()
  const fields = { grant_type: 'refresh_token', client_id: webClientId, refresh_token: String(tokens['refresh_token']) }
  // the revocation happens between the last read of the grant and the write
  const commit = async (change: Change) => {
    await fixture.post('/oauth/revoke', { token: fields.refresh_token, client_id: webClientId })
    return fixture.database.commit(change)
  }
  const database = Object.create(fixture.database, { commit: { value: commit } }) as Database
  const { part, config } = fixture.daemon
  const { tokenEndpoint } = oauthServer({
    get: (key) => (key === 'core' ? { ...part('core'), database } : part(key)) as never,
    config,
    replace: {},
  })
  const request = { parameters: new Parameters(encode(fields)), authorization: undefined, remoteAddress: '' }
  await t.throwsAsync(tokenEndpoint.answer(request), { message: 'The refresh token is expired or revoked.' })
})

test('grant: deleted a day after its end, when the next one is created', async (t) => {
  const fixture = await startOAuth(t)
  const once = 'https://client.example.net/once.json'
  fixture.web.set(once, documentOf({ client_id: once, grant_types: ['authorization_code'] }))
  const [revoked, kept] = [await fixture.signIn(), await fixture.signIn()]
  await fixture.signIn({ client_id: once })
  await fixture.post('/oauth/revoke', { token: String(revoked['refresh_token']), client_id: webClientId })
  const grants = async () => (await fixture.database.all(oauthGrants, { organizationId: fixture.organizationId })).length
  fixture.clock.advance(86_399_000)
  await fixture.signIn()
  t.is(await grants(), 4)
  fixture.clock.advance(1000)
  await fixture.signIn()
  t.is(await grants(), 4, 'the revoked grant is deleted')
  fixture.clock.advance(3_600_000)
  await fixture.signIn()
  t.is(await grants(), 4, 'the grant without refresh is deleted')
  t.is((await refresh(fixture, kept['refresh_token'])).status, 200)
  await assertSound(t, fixture)
})

test('revocation: a client can revoke both of its tokens; the response is always 200', async (t) => {
  const fixture = await startOAuth(t)
  const revoke = (token: unknown, client = webClientId) => fixture.post('/oauth/revoke', { token: String(token), client_id: client })
  const [one, two, three] = [await fixture.signIn(), await fixture.signIn(), await fixture.signIn({ resource: mcpResource })]
  t.is((await revoke(one['refresh_token'], 'anonymous-bootstrap')).status, 200)
  t.is((await revoke(one['access_token'], 'https://client.example.net/other.json')).status, 200)
  t.is((await fixture.callRest(one['access_token'])).status, 200, 'not theirs')
  t.is((await revoke('unknown')).status, 200)
  t.is((await revoke(one['refresh_token'])).status, 200)
  t.is((await revoke(one['refresh_token'])).status, 200)
  t.is((await fixture.callRest(one['access_token'])).status, 401)
  t.is((await revoke(two['access_token'])).status, 200)
  t.is(outcomeOf(await refresh(fixture, two['refresh_token'])), '400 invalid_grant')
  t.is((await revoke(three['access_token'])).status, 200)
  await t.throwsAsync(fixture.server.tokenCheck.bearer(String(three['access_token']), 'mcp'))
})
