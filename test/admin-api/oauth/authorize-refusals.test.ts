/** Refusals of the authorization endpoint: a page if the client is unknown, otherwise a redirect with an error. */
import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { ask, runCases, type Case } from './outcome.ts'
import {
  documentOf,
  encode,
  mcpResource,
  redirectUri,
  restResource,
  startOAuth,
  webClientId,
  type Fields,
  type OAuthFixture,
} from './oauth-fixture.ts'

/** Returns a valid request with changes. */
const asked =
  (changes: Fields) =>
  (fixture: OAuthFixture): Promise<string> =>
    ask(fixture, fixture.request(changes).query)

/** Returns a valid request with one parameter repeated. */
const twice =
  (name: string, value: string) =>
  async (fixture: OAuthFixture): Promise<string> => {
    const search = encode(fixture.request().query)
    search.append(name, value)
    return ask(fixture, search)
  }

/** Returns a client with this document. */
const documented =
  (changes: Readonly<Record<string, unknown>>, headers: Readonly<Record<string, string>> = {}, status = 200) =>
  (fixture: OAuthFixture): Promise<string> => {
    const id = `https://other.example.net/${fixture.web.size}.json`
    fixture.web.set(id, { ...documentOf({ client_id: id, ...changes }, headers), status })
    return ask(fixture, fixture.request({ client_id: id }).query)
  }

const redirected = (uri: string) => asked({ redirect_uri: uri })
const withId = (id: string) => asked({ client_id: id })

const pages: readonly Case[] = [
  ['no client_id', 'page invalid_request', asked({ client_id: undefined })],
  ['an empty client_id', 'page invalid_request', asked({ client_id: '' })],
  ['two client_ids', 'page invalid_request', twice('client_id', webClientId)],
  ['an unknown client', 'page invalid_client', withId('somebody')],
  ['a client that was never registered', 'page invalid_client', withId(`client_${'a'.repeat(43)}`)],
  ['the bootstrap client, which redirects nowhere', 'page invalid_request', withId('anonymous-bootstrap')],
  ['a document without TLS', 'page invalid_client', withId('http://client.example.net/oauth/client.json')],
  ['a document without a path', 'page invalid_client', withId('https://client.example.net/')],
  ['a document with a fragment', 'page invalid_client', withId(`${webClientId}#x`)],
  ['a document with a user name', 'page invalid_client', withId('https://a:b@client.example.net/oauth/client.json')],
  ['a document with dot segments', 'page invalid_client', withId('https://client.example.net/x/../oauth/client.json')],
  ['a document with an upper-case host', 'page invalid_client', withId('https://Client.example.net/oauth/client.json')],
  ['a document on an odd port', 'page invalid_client', withId('https://client.example.net:2525/oauth/client.json')],
  ['a document that cannot be fetched', 'page invalid_client', withId('https://client.example.net/gone.json')],
  ['a missing document', 'page invalid_client', documented({}, {}, 404)],
  ['a document after a redirect', 'page invalid_client', documented({}, {}, 302)],
  ['a document without a JSON type', 'page invalid_client', documented({}, { 'content-type': 'text/html' })],
  ['a document of another client', 'page invalid_client', documented({ client_id: webClientId })],
  ['a document that asks for a secret', 'page invalid_client', documented({ token_endpoint_auth_method: 'client_secret_basic' })],
  ['a document that signs', 'page invalid_client', documented({ token_endpoint_auth_method: 'private_key_jwt' })],
  ['a document without redirect_uris', 'page invalid_client', documented({ redirect_uris: undefined })],
  ['a document that redirects to a script', 'page invalid_client', documented({ redirect_uris: [redirectUri, 'javascript:alert(1)'] })],
  ['a document for another grant', 'page invalid_client', documented({ grant_types: ['client_credentials'] })],
  ['no redirect_uri', 'page invalid_request', asked({ redirect_uri: undefined })],
  ['two redirect_uris', 'page invalid_request', twice('redirect_uri', redirectUri)],
  ['another path', 'page invalid_request', redirected('http://127.0.0.1:33418/other')],
  ['a longer path', 'page invalid_request', redirected(`${redirectUri}/more`)],
  ['an added query', 'page invalid_request', redirected(`${redirectUri}?x=1`)],
  ['an added fragment', 'page invalid_request', redirected(`${redirectUri}#x`)],
  ['the loopback host as user name', 'page invalid_request', redirected('http://127.0.0.1:33418@evil.example/callback')],
  ['a backslash', 'page invalid_request', redirected('http://127.0.0.1:33418\\@evil.example/callback')],
  ['another name for the same machine', 'page invalid_request', redirected('http://localhost:33418/callback')],
  ['the same address in another notation', 'page invalid_request', redirected('http://127.1:33418/callback')],
  ['TLS on the loopback interface', 'page invalid_request', redirected('https://127.0.0.1:33418/callback')],
  ['an invalid port', 'page invalid_request', redirected('http://127.0.0.1:99999/callback')],
  ['a line break', 'page invalid_request', redirected(`${redirectUri}\n`)],
  ['a host that begins like ours', 'page invalid_request', redirected('https://client.example.net.evil.example/back')],
  ['a dot segment', 'page invalid_request', redirected('https://client.example.net/x/../back')],
  ['another port of a host on the web', 'page invalid_request', redirected('https://client.example.net:444/back')],
  ['the host in capitals', 'page invalid_request', redirected('https://CLIENT.example.net/back')],
]

const redirects: readonly Case[] = [
  ['no response_type', 'redirect invalid_request', asked({ response_type: undefined })],
  ['the implicit flow', 'redirect unsupported_response_type', asked({ response_type: 'token' })],
  ['a hybrid flow', 'redirect unsupported_response_type', asked({ response_type: 'code token' })],
  ['an answer in the fragment', 'redirect invalid_request', asked({ response_mode: 'fragment' })],
  ['no PKCE', 'redirect invalid_request', asked({ code_challenge: undefined, code_challenge_method: undefined })],
  ['PKCE without a challenge', 'redirect invalid_request', asked({ code_challenge: undefined })],
  ['PKCE without a method', 'redirect invalid_request', asked({ code_challenge_method: undefined })],
  ['PKCE with the plain method', 'redirect invalid_request', asked({ code_challenge_method: 'plain' })],
  ['a short challenge', 'redirect invalid_request', asked({ code_challenge: 'abc' })],
  ['a padded challenge', 'redirect invalid_request', asked({ code_challenge: `${'a'.repeat(43)}=` })],
  ['no resource', 'redirect invalid_target', asked({ resource: undefined })],
  ['a foreign resource', 'redirect invalid_target', asked({ resource: 'https://other.example/mcp' })],
  ['a resource with an extra slash', 'redirect invalid_target', asked({ resource: `${restResource}/` })],
  ['our resource and a foreign one', 'redirect invalid_target', asked({ resource: [restResource, 'https://other.example/mcp'] })],
  ['a scope that does not exist', 'redirect invalid_scope', asked({ scope: 'api:read api:everything' })],
  ['a scope of another resource', 'redirect invalid_scope', asked({ scope: 'api:read mcp:read' })],
  ['two resources with the scopes of one', 'redirect invalid_scope', asked({ resource: [restResource, mcpResource], scope: 'api:read' })],
  ['a prompt that contradicts itself', 'redirect invalid_request', asked({ prompt: 'none consent' })],
  ['an unknown prompt', 'redirect invalid_request', asked({ prompt: 'shout' })],
  ['a request object', 'redirect request_not_supported', asked({ request: 'eyJhbGciOiJub25lIn0.e30.' })],
  ['a request by reference', 'redirect request_uri_not_supported', asked({ request_uri: 'https://client.example.net/r' })],
  ['two states', 'redirect invalid_request', twice('state', 'other')],
  ['two scope parameters', 'redirect invalid_request', asked({ scope: ['api:read', 'api:read'] })],
  [
    'an unknown parameter twice',
    'redirect invalid_request',
    async (fixture) => ask(fixture, { ...fixture.request().query, x: ['1', '2'] }),
  ],
  ['prompt=none without a session', 'redirect login_required', asked({ prompt: 'none' })],
]

test('authorize: shows a page if client or redirect_uri is invalid', async (t) => {
  const fixture = await startOAuth(t)
  fixture.web.set('https://client.example.net/broken.json', { ...documentOf(), text: '{' })
  await runCases(t, fixture, [...pages, ['a broken document', 'page invalid_client', withId('https://client.example.net/broken.json')]])
})

test('authorize: redirects other errors to the client', async (t) => {
  await runCases(t, await startOAuth(t), redirects)
})

test('authorize: shows the consent page for a valid request', async (t) => {
  const fixture = await startOAuth(t)
  await runCases(t, fixture, [
    ['the usual', 'asked', asked({})],
    ['another port on the loopback interface', 'asked', redirected('http://127.0.0.1:1/callback')],
    ['no port on the loopback interface', 'asked', redirected('http://127.0.0.1/callback')],
    ['a redirect on the web', 'asked', redirected('https://client.example.net/back')],
    ['no state', 'asked', asked({ state: undefined })],
    ['both resources', 'asked', asked({ resource: [restResource, mcpResource] })],
    ['a scope of other servers', 'asked', asked({ scope: 'api:read offline_access' })],
    ['a parameter without a value', 'asked', asked({ scope: '', prompt: '' })],
    ['a document of any JSON type', 'asked', documented({}, { 'content-type': 'application/oauth-client+json; charset=utf-8' })],
  ])
})

test('authorize: the page names client, host, redirect address and scopes', async (t) => {
  const fixture = await startOAuth(t)
  const shown = async (changes: Fields): Promise<object | undefined> => {
    const checked = await fixture.check(fixture.request(changes).query)
    return checked.kind === 'pending' ? checked.pending : undefined
  }
  t.like(await shown({}), {
    client: { id: webClientId, name: 'Agent', verifiedHost: 'client.example.net' },
    redirectHost: '127.0.0.1:33418',
    isLoopback: true,
    scopes: ['api:read', 'api:send'],
    surfaces: ['rest'],
    prompts: [],
  })
  const registered = await fixture.post(
    '/oauth/register',
    JSON.stringify({ redirect_uris: ['com.example.app:/back'], client_name: ' A\u202e \n B ' }),
    {
      'content-type': 'application/json',
    },
  )
  const id = String(registered.body['client_id'])
  const native = await shown({ client_id: id, redirect_uri: 'com.example.app:/back', scope: 'api:admin', prompt: 'consent login' })
  t.like(native, { redirectHost: 'com.example.app:', isLoopback: false, scopes: ['api:admin'], prompts: ['login', 'consent'] })
  t.deepEqual((native as { client: object }).client, { id, name: 'A B' })
})

test('authorize: denial and approval return issuer and state to the redirect_uri', async (t) => {
  const fixture = await startOAuth(t)
  const back = 'https://client.example.net/back?page=1'
  fixture.web.set(webClientId, documentOf({ redirect_uris: [back] }))
  const { query } = fixture.request({ redirect_uri: back, state: 'a b&c="ü' })
  const denied = await fixture.approve(query, { decision: 'deny' })
  t.deepEqual(Object.fromEntries(denied.searchParams), {
    page: '1',
    error: 'access_denied',
    error_description: 'The user denied the request.',
    state: 'a b&c="ü',
    iss: 'https://post.example.ch',
  })
  const approved = await fixture.approve(query)
  t.deepEqual([...approved.searchParams.keys()], ['page', 'code', 'state', 'iss'])
  t.regex(approved.searchParams.get('code') ?? '', /^[\w-]{43}$/)
})

test('authorize: users approve only for own organizations, projects and scopes', async (t) => {
  const fixture = await startOAuth(t)
  const { query } = fixture.request()
  const other = await fixture.addOrganization()
  const refused = (form: Fields, code: string) => t.throwsAsync(fixture.approve(query, form), { instanceOf: Refusal, code })
  await refused({ user: 'usr_stranger' }, 'insufficient_scope')
  await refused({ project: other.projectId }, 'not_found')
  await refused({ scopes: 'mcp:read' }, 'validation_failed')
  await refused({ scopes: '' }, 'validation_failed')
  await t.notThrowsAsync(fixture.approve(query, { scopes: 'api:admin' }), 'a user may grant more than requested')
})

test('client document: cached until it expires', async (t) => {
  const fixture = await startOAuth(t)
  fixture.web.set(webClientId, documentOf({}, { 'cache-control': 'public, max-age=600' }))
  const { query } = fixture.request()
  t.deepEqual(await Promise.all([ask(fixture, query), ask(fixture, query), ask(fixture, query)]), ['asked', 'asked', 'asked'])
  t.is(fixture.fetched.length, 1)
  fixture.clock.advance(599_000)
  await ask(fixture, query)
  t.is(fixture.fetched.length, 1)
  fixture.clock.advance(2000)
  fixture.web.delete(webClientId)
  t.is(await ask(fixture, query), 'page invalid_client')
  t.is(await ask(fixture, query), 'page invalid_client')
  t.is(fixture.fetched.length, 2, 'a failed fetch is not repeated at once')
  fixture.web.set(webClientId, documentOf({}, { 'cache-control': 'no-store' }))
  fixture.clock.advance(30_000)
  t.is(await ask(fixture, query), 'asked')
  t.is(fixture.fetched.length, 3)
})
