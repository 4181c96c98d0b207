/** Refusals of the endpoints for programs: a table for each, with standard OAuth errors. */
import test from '#test'
import { outcomeOf, runCases, type Case } from './outcome.ts'
import { mcpResource, redirectUri, restResource, startOAuth, webClientId, type Fields, type OAuthFixture } from './oauth-fixture.ts'

const json = { 'content-type': 'application/json' }
const day = 86_400_000

interface Approved {
  readonly fields: Fields
  readonly fixture: OAuthFixture
}

/** Exchanges a fresh code with changes of the token request, after `meanwhile`. */
const exchange =
  (changes: Fields, meanwhile: (approved: Approved) => unknown = () => {}, request: Fields = {}, form: Fields = {}) =>
  async (fixture: OAuthFixture): Promise<string> => {
    const { query, verifier } = fixture.request(request)
    const code = (await fixture.approve(query, form)).searchParams.get('code') ?? ''
    const usual = { grant_type: 'authorization_code', client_id: webClientId, code, code_verifier: verifier }
    const fields = { ...usual, redirect_uri: query['redirect_uri'] }
    await meanwhile({ fields, fixture })
    return outcomeOf(await fixture.token({ ...fields, ...changes }))
  }

/** Refreshes a fresh token. */
const refresh =
  (changes: Fields, meanwhile: (fixture: OAuthFixture, token: string) => unknown = () => {}, request: Fields = {}) =>
  async (fixture: OAuthFixture): Promise<string> => {
    const token = String((await fixture.signIn(request))['refresh_token'])
    await meanwhile(fixture, token)
    return outcomeOf(await fixture.token({ grant_type: 'refresh_token', client_id: webClientId, refresh_token: token, ...changes }))
  }

const leave = (fixture: OAuthFixture): Promise<void> => fixture.setRole(undefined)
const join = (fixture: OAuthFixture): Promise<void> => fixture.setRole('admin')

/** Runs the case while the member is removed. */
const withoutMember = (run: (fixture: OAuthFixture) => Promise<string>) => async (fixture: OAuthFixture) => {
  const outcome = await run(fixture)
  await join(fixture)
  return outcome
}

const codes: readonly Case[] = [
  ['all in order', '200', exchange({})],
  ['the resource again', '200', exchange({ resource: restResource })],
  ['no grant_type', '400 invalid_request', exchange({ grant_type: undefined })],
  ['the password grant', '400 unsupported_grant_type', exchange({ grant_type: 'password' })],
  ['client credentials for a client of people', '400 unauthorized_client', exchange({ grant_type: 'client_credentials' })],
  ['a code for the bootstrap client', '400 unauthorized_client', exchange({ client_id: 'anonymous-bootstrap' })],
  ['no client', '401 invalid_client', exchange({ client_id: undefined })],
  ['an unknown client', '401 invalid_client', exchange({ client_id: 'somebody' })],
  ['a secret for a public client', '401 invalid_client', exchange({ client_secret: 'x' })],
  ['no code', '400 invalid_request', exchange({ code: undefined })],
  ['an unknown code', '400 invalid_grant', exchange({ code: 'a'.repeat(43) })],
  ['two codes', '400 invalid_request', exchange({ code: ['a', 'b'] })],
  ['no verifier', '400 invalid_request', exchange({ code_verifier: undefined })],
  ['another verifier', '400 invalid_grant', exchange({ code_verifier: 'b'.repeat(43) })],
  ['a short verifier', '400 invalid_grant', exchange({ code_verifier: 'b' })],
  ['no redirect_uri', '400 invalid_grant', exchange({ redirect_uri: undefined })],
  ['another redirect_uri', '400 invalid_grant', exchange({ redirect_uri: 'https://client.example.net/back' })],
  ['another port', '400 invalid_grant', exchange({ redirect_uri: 'http://127.0.0.1:33419/callback' })],
  ['another client', '400 invalid_grant', exchange({ client_id: 'https://client.example.net/other.json' })],
  ['a code that is a minute old', '400 invalid_grant', exchange({}, ({ fixture }) => fixture.clock.advance(60_000))],
  ['a code that was used', '400 invalid_grant', exchange({}, ({ fixture, fields }) => fixture.token(fields))],
  ['another resource', '400 invalid_target', exchange({ resource: mcpResource })],
  ['a foreign resource', '400 invalid_target', exchange({ resource: 'https://other.example' })],
  [
    'two resources at once',
    '400 invalid_target',
    exchange({ resource: [restResource, mcpResource] }, undefined, { resource: [restResource, mcpResource] }),
  ],
  ['no resource if two were granted', '400 invalid_target', exchange({}, undefined, { resource: [restResource, mcpResource] })],
  [
    'a resource that was not approved',
    '400 invalid_target',
    exchange({ resource: mcpResource }, undefined, { resource: [restResource, mcpResource] }, { scopes: 'api:read' }),
  ],
  ['more than approved', '400 invalid_scope', exchange({ scope: 'api:admin' })],
  ['a scope of another resource', '400 invalid_scope', exchange({ scope: 'mcp:read' })],
  ['an unknown scope', '400 invalid_scope', exchange({ scope: 'root' })],
  ['a user who left', '400 invalid_grant', withoutMember(exchange({}, ({ fixture }) => leave(fixture)))],
  ['an unknown parameter twice', '400 invalid_request', exchange({ x: ['1', '2'] })],
]

const refreshes: readonly Case[] = [
  ['all in order', '200', refresh({})],
  ['fewer scopes', '200', refresh({ scope: 'api:read' })],
  ['no token', '400 invalid_request', refresh({ refresh_token: undefined })],
  ['an unknown token', '400 invalid_grant', refresh({ refresh_token: `rt_${'a'.repeat(43)}` })],
  ['something else', '400 invalid_grant', refresh({ refresh_token: 'x'.repeat(5000) })],
  ['the token of another client', '400 invalid_grant', refresh({ client_id: 'anonymous-bootstrap' })],
  ['a token that was idle for 30 days', '400 invalid_grant', refresh({}, (fixture) => fixture.clock.advance(30 * day))],
  [
    'a token that was used',
    '400 invalid_grant',
    refresh({}, (fixture, token) => fixture.token({ grant_type: 'refresh_token', client_id: webClientId, refresh_token: token })),
  ],
  [
    'a token that was revoked',
    '400 invalid_grant',
    refresh({}, (fixture, token) => fixture.post('/oauth/revoke', { token, client_id: webClientId })),
  ],
  ['more than approved', '400 invalid_scope', refresh({ scope: 'api:read api:admin' })],
  ['a scope of another resource', '400 invalid_scope', refresh({ scope: 'mcp:read' })],
  ['another resource', '400 invalid_target', refresh({ resource: mcpResource })],
  ['two resources', '400 invalid_target', refresh({ resource: [mcpResource, restResource] })],
  ['a user who left', '400 invalid_grant', withoutMember(refresh({}, leave))],
]

test('token endpoint: refuses invalid codes', async (t) => {
  await runCases(t, await startOAuth(t), codes)
})

test('token endpoint: refuses invalid refresh tokens', async (t) => {
  const fixture = await startOAuth(t)
  await runCases(t, fixture, refreshes)
  const { access_token: token } = await fixture.signIn()
  t.is(
    outcomeOf(await fixture.token({ grant_type: 'refresh_token', client_id: webClientId, refresh_token: String(token) })),
    '400 invalid_grant',
  )
})

test('refresh: ends 180 days after the consent, regardless of use', async (t) => {
  const fixture = await startOAuth(t)
  let token = (await fixture.signIn())['refresh_token']
  const go = () => fixture.token({ grant_type: 'refresh_token', client_id: webClientId, refresh_token: String(token) })
  for (let days = 0; days < 180; days += 20) {
    const { status, body } = await go()
    t.is(status, 200, `after ${days} days`)
    token = body['refresh_token']
    fixture.clock.advance(20 * day)
  }
  t.is(outcomeOf(await go()), '400 invalid_grant')
})

test('token endpoint: a client with a secret sends it in exactly one place', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await fixture.post('/oauth/register', JSON.stringify({ redirect_uris: [redirectUri] }), json)
  const [id, secret] = [String(body['client_id']), String(body['client_secret'])]
  t.is(body['token_endpoint_auth_method'], 'client_secret_basic')
  const basic = (one: string, other: string) => `Basic ${Buffer.from(`${one}:${other}`).toString('base64')}`
  const tryIt = async (fields: Fields, authorization?: string) => {
    const reply = await fixture.post('/oauth/revoke', { token: 'x', ...fields }, authorization === undefined ? {} : { authorization })
    const scheme = reply.headers.get('www-authenticate')
    return scheme === null ? outcomeOf(reply) : `${outcomeOf(reply)}, ${scheme}`
  }
  const challenged = '401 invalid_client, Basic realm="oauth"'
  t.is(await tryIt({}, basic(id, secret)), '200')
  t.is(await tryIt({ client_id: id }, basic(id, secret)), '200')
  t.is(await tryIt({}, basic(id, 'wrong')), challenged)
  t.is(await tryIt({}, basic('somebody', secret)), challenged)
  t.is(await tryIt({}, basic(webClientId, '')), challenged)
  t.is(await tryIt({}, `Bearer ${secret}`), challenged)
  t.is(await tryIt({}, 'Basic %%%'), challenged)
  t.is(await tryIt({}, `Basic ${Buffer.from('nocolon').toString('base64')}`), challenged)
  t.is(await tryIt({}, basic('%zz', secret)), challenged)
  t.is(await tryIt({ client_id: id }), '401 invalid_client')
  t.is(await tryIt({ client_id: id, client_secret: secret }), '401 invalid_client', 'registered for the header')
  t.is(await tryIt({ client_secret: secret }, basic(id, secret)), '400 invalid_request')
  t.is(await tryIt({ client_id: webClientId }, basic(id, secret)), '400 invalid_request')
})

test('anonymous bootstrap: refuses invalid requests', async (t) => {
  const refused =
    (fields: Fields) =>
    async (fixture: OAuthFixture): Promise<string> =>
      outcomeOf(await fixture.bootstrap(fields))
  await runCases(t, await startOAuth(t), [
    ['a foreign resource', '400 invalid_target', refused({ resource: 'https://other.example/mcp' })],
    ['two resources', '400 invalid_target', refused({ resource: [mcpResource, restResource] })],
    ['an unknown scope', '400 invalid_scope', refused({ scope: 'everything' })],
    ['a scope of another resource', '400 invalid_scope', refused({ resource: mcpResource, scope: 'api:read' })],
    ['a secret', '401 invalid_client', refused({ client_secret: 'x' })],
    ['two grant types', '400 invalid_request', refused({ grant_type: ['client_credentials', 'client_credentials'] })],
  ])
})

test('registration: refuses invalid requests', async (t) => {
  const registered =
    (metadata: object | string, headers: Readonly<Record<string, string>> = json) =>
    async (fixture: OAuthFixture): Promise<string> => {
      const address = { 'x-forwarded-for': `192.0.2.${(addresses++).toString()}` }
      return outcomeOf(
        await fixture.post('/oauth/register', typeof metadata === 'string' ? metadata : JSON.stringify(metadata), {
          ...headers,
          ...address,
        }),
      )
    }
  let addresses = 1
  const uri = (...redirect_uris: unknown[]) => registered({ redirect_uris })
  await runCases(t, await startOAuth(t), [
    ['all in order', '201', registered({ redirect_uris: [redirectUri], unknown: { field: true } })],
    ['no JSON', '400 invalid_client_metadata', registered('{')],
    ['a list', '400 invalid_client_metadata', registered([])],
    ['a form', '415 invalid_request', registered('a=b', { 'content-type': 'application/x-www-form-urlencoded' })],
    ['no redirect_uris', '400 invalid_redirect_uri', registered({})],
    ['an empty list', '400 invalid_redirect_uri', uri()],
    ['too many', '400 invalid_redirect_uri', uri(...Array<string>(21).fill(redirectUri))],
    ['a number', '400 invalid_redirect_uri', uri(7)],
    ['a relative one', '400 invalid_redirect_uri', uri('/callback')],
    ['http on the web', '400 invalid_redirect_uri', uri('http://client.example.net/cb')],
    ['a fragment', '400 invalid_redirect_uri', uri('https://client.example.net/cb#x')],
    ['a user name', '400 invalid_redirect_uri', uri('https://a@client.example.net/cb')],
    ['a wildcard', '400 invalid_redirect_uri', uri('https://*.example.net/cb')],
    ['a script', '400 invalid_redirect_uri', uri('javascript:alert(1)//')],
    ['a data URL', '400 invalid_redirect_uri', uri('data:text/html,x')],
    ['a file', '400 invalid_redirect_uri', uri('file:///etc/passwd')],
    ['a space', '400 invalid_redirect_uri', uri('https://client.example.net/c b')],
    ['one good, one bad', '400 invalid_redirect_uri', uri(redirectUri, 'http://client.example.net')],
    ['a name that is not text', '400 invalid_client_metadata', registered({ redirect_uris: [redirectUri], client_name: 7 })],
    ['the implicit flow', '400 invalid_client_metadata', registered({ redirect_uris: [redirectUri], response_types: ['token'] })],
    ['another grant', '400 invalid_client_metadata', registered({ redirect_uris: [redirectUri], grant_types: ['client_credentials'] })],
    [
      'a signing client',
      '400 invalid_client_metadata',
      registered({ redirect_uris: [redirectUri], token_endpoint_auth_method: 'private_key_jwt' }),
    ],
  ])
})

test('OAuth errors: other bodies and methods are refused in the OAuth format', async (t) => {
  const raw =
    (method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}) =>
    async (fixture: OAuthFixture): Promise<string> => {
      const response = await fixture.fetch(`https://post.example.ch${path}`, { method, headers, ...(body !== undefined && { body }) })
      return outcomeOf({ status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> })
    }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const fixture = await startOAuth(t)
  const get = await fixture.fetch('https://post.example.ch/oauth/token')
  t.is(get.status, 405)
  t.is(get.headers.get('allow'), 'POST')
  t.is(((await get.json()) as { error: string }).error, 'invalid_request')
  await runCases(t, fixture, [
    ['JSON', '415 invalid_request', raw('POST', '/oauth/token', '{}', json)],
    ['no type', '415 invalid_request', raw('POST', '/oauth/token')],
    [
      'another charset',
      '415 invalid_request',
      raw('POST', '/oauth/token', 'a=b', { 'content-type': `${form['content-type']}; charset=latin1` }),
    ],
    ['compressed', '415 invalid_request', raw('POST', '/oauth/token', 'a=b', { ...form, 'content-encoding': 'gzip' })],
    ['too long', '413 invalid_request', raw('POST', '/oauth/token', `a=${'b'.repeat(20_000)}`, form)],
    ['a query', '400 invalid_request', raw('POST', '/oauth/token?grant_type=refresh_token', 'a=b', form)],
    ['nothing', '401 invalid_client', raw('POST', '/oauth/token', '', form)],
    ['broken escapes', '401 invalid_client', raw('POST', '/oauth/token', 'client_id=%zz&grant_type=x', form)],
    ['nothing to revoke', '400 invalid_request', raw('POST', '/oauth/revoke', `client_id=${encodeURIComponent(webClientId)}`, form)],
    ['no client', '401 invalid_client', raw('POST', '/oauth/revoke', 'token=x', form)],
    ['an id twice', '400 invalid_request', raw('POST', '/oauth/revoke', 'token=x&client_id=a&client_id=a', form)],
  ])
})
