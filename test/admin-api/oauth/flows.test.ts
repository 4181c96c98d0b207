/** OAuth flows of well-known client libraries, which know only public addresses. */
import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client'
import test from '#test'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { encode, issuer, mcpResource, redirectUri, restResource, startOAuth, webClientId, type OAuthFixture } from './oauth-fixture.ts'
import { machineTime } from '../../support/fake-clock.ts'

/** Returns the authorization server of a resource, as oauth4webapi discovers it. */
async function discover({ fetch }: OAuthFixture, resource: string) {
  const by = { [oauth.customFetch]: fetch as (url: string, init: object) => Promise<Response> }
  const url = new URL(resource)
  const protectedResource = await oauth.processResourceDiscoveryResponse(url, await oauth.resourceDiscoveryRequest(url, by))
  const server = new URL(protectedResource.authorization_servers?.[0] ?? '')
  const as = await oauth.processDiscoveryResponse(server, await oauth.discoveryRequest(server, { algorithm: 'oauth2', ...by }))
  return { as, by, protectedResource }
}

/** Simulates the user's browser at an authorization address. */
const approve = async ({ approve: go }: OAuthFixture, address: string | URL): Promise<URL> =>
  go(Object.fromEntries(new URL(address).searchParams))

test('oauth4webapi: discovers the server, signs in, calls REST, refreshes and revokes', async (t) => {
  const fixture = await startOAuth(t)
  const { as, by } = await discover(fixture, restResource)
  t.is(as.issuer, issuer)
  t.is(as['anonymous_bootstrap_client_id'], 'anonymous-bootstrap')
  const client: oauth.Client = { client_id: webClientId }
  const verifier = oauth.generateRandomCodeVerifier()
  const { query } = fixture.request({ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), scope: 'api:read api:send' })
  const back = await approve(fixture, `${as.authorization_endpoint}?${encode(query).toString()}`)
  const answered = oauth.validateAuthResponse(as, client, back, 'st-1')
  const resource = { additionalParameters: { resource: restResource } }
  const code = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), answered, redirectUri, verifier, { ...by, ...resource })
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, code)
  t.like(tokens, { token_type: 'bearer', expires_in: 3600, scope: 'api:read api:send' })

  const called = new Request(restResource, { headers: { authorization: `Bearer ${tokens.access_token}` } })
  const claims = await oauth.validateJwtAccessToken(as, called, restResource, { ...by, [oauth.clockSkew]: skew(fixture) })
  t.like(claims, { sub: 'usr_1', client_id: webClientId, scope: 'api:read api:send', kind: 'user', prj: fixture.projectId })
  t.like(await fixture.callRest(tokens.access_token), { status: 200, body: { project_id: fixture.projectId } })

  const refreshed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token ?? '', by),
  )
  t.not(refreshed.refresh_token, tokens.refresh_token)
  t.is((await fixture.callRest(refreshed.access_token)).status, 200)
  const revoked = await oauth.revocationRequest(as, client, oauth.None(), refreshed.refresh_token ?? '', by)
  t.is(await oauth.processRevocationResponse(revoked), undefined)
  t.is((await fixture.callRest(refreshed.access_token)).status, 401)
  t.is((await fixture.callRest(tokens.access_token)).status, 401)
})

/** Returns the seconds from the machine's clock to the fake clock. */
const skew = ({ clock }: OAuthFixture): number => Math.round((clock.now() - machineTime()) / 1000)

test('openid-client: registers with a secret, signs in with PKCE, and refreshes', async (t) => {
  const fixture = await startOAuth(t)
  for (const [method, authentication] of [
    ['client_secret_basic', openid.ClientSecretBasic()],
    ['client_secret_post', openid.ClientSecretPost()],
  ] as const) {
    const metadata = { redirect_uris: ['https://app.example.com/cb'], client_name: 'App', token_endpoint_auth_method: method }
    const options = { algorithm: 'oauth2', [openid.customFetch]: fixture.fetch as openid.CustomFetch } as const
    const config = await openid.dynamicClientRegistration(new URL(issuer), metadata, authentication, options)
    t.is(config.clientMetadata()['token_endpoint_auth_method'], method)
    const verifier = openid.randomPKCECodeVerifier()
    const challenge = await openid.calculatePKCECodeChallenge(verifier)
    const address = openid.buildAuthorizationUrl(config, {
      redirect_uri: 'https://app.example.com/cb',
      ...{ scope: 'mcp:read mcp:send', resource: mcpResource, code_challenge: challenge, code_challenge_method: 'S256', state: 's' },
    })
    const back = await approve(fixture, address)
    const tokens = await openid.authorizationCodeGrant(
      config,
      back,
      { pkceCodeVerifier: verifier, expectedState: 's' },
      { resource: mcpResource },
    )
    t.is(tokens.scope, 'mcp:read mcp:send')
    t.deepEqual((await fixture.server.tokenCheck.bearer(tokens.access_token, 'mcp')).scopes, ['mcp:read', 'mcp:send-sandbox', 'mcp:send'])
    const less = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: 'mcp:read' })
    t.is(less.scope, 'mcp:read')
    const all = await openid.refreshTokenGrant(config, less.refresh_token ?? '')
    t.is(all.scope, 'mcp:read mcp:send', 'a narrower token does not change the grant')
    await openid.tokenRevocation(config, all.access_token)
    await t.throwsAsync(openid.refreshTokenGrant(config, all.refresh_token ?? ''), { message: /invalid_grant|response body/ })
  }
})

test('openid-client: creates an anonymous sandbox, sends and refreshes', async (t) => {
  const fixture = await startOAuth(t)
  const options = { algorithm: 'oauth2', [openid.customFetch]: fixture.fetch as openid.CustomFetch } as const
  const config = await openid.discovery(new URL(issuer), 'anonymous-bootstrap', undefined, openid.None(), options)
  const tokens = await openid.clientCredentialsGrant(config, { resource: restResource })
  t.is(tokens.scope, 'api:read api:send')
  const me = await fixture.callRest(tokens.access_token)
  t.like(me.body, { project_id: tokens['project_id'], status: 'anonymous' })
  const sent = await fixture.callRest(tokens.access_token, '/v1/messages', 'POST', {
    from: 'a@example.ch',
    to: 'b@example.ch',
    subject: 'x',
    text: 'y',
  })
  t.like(sent, { status: 200, body: { outcome: 'captured.anonymous_project' } })
  const trace = await fixture.callRest(tokens.access_token, `/v1/traces/${String(sent.body['trace_id'])}`)
  t.is(trace.status, 200)
  const again = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { resource: mcpResource })
  t.is(again.scope, 'mcp:read mcp:send-sandbox')
  t.is(again['project_id'], undefined)
  t.like((await fixture.server.tokenCheck.bearer(again.access_token, 'mcp')).holder, { kind: 'anonymous' })
})

test('MCP client: discovers from a challenge, and signs in by document or registration', async (t) => {
  const fixture = await startOAuth(t)
  const fetchFn = fixture.fetch as typeof globalThis.fetch
  const resource = await discoverOAuthProtectedResourceMetadata(mcpResource, undefined, fetchFn)
  t.is(resource.resource, mcpResource)
  const metadata = await discoverAuthorizationServerMetadata(resource.authorization_servers?.[0] ?? '', { fetchFn })
  t.true(metadata?.['client_id_metadata_document_supported'])
  const registered = await registerClient(issuer, {
    ...(metadata && { metadata }),
    clientMetadata: { redirect_uris: ['http://localhost/callback'], client_name: 'Agent', token_endpoint_auth_method: 'none' },
    fetchFn,
  })
  t.is(registered.client_secret, undefined)
  for (const [client_id, redirectUrl] of [
    [webClientId, redirectUri],
    [registered.client_id, 'http://localhost:50123/callback'],
  ] as const) {
    const clientInformation = { client_id }
    const shared = { ...(metadata && { metadata }), clientInformation, resource: new URL(mcpResource) }
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, { ...shared, redirectUrl, scope: 'mcp:read', state: 's' })
    const back = await approve(fixture, authorizationUrl)
    t.is(back.searchParams.get('iss'), issuer)
    const authorizationCode = back.searchParams.get('code') ?? ''
    const tokens = await exchangeAuthorization(issuer, {
      ...shared,
      authorizationCode,
      iss: issuer,
      codeVerifier,
      redirectUri: redirectUrl,
      fetchFn,
    })
    t.is(tokens.scope, 'mcp:read')
    const refreshed = await refreshAuthorization(issuer, { ...shared, refreshToken: tokens.refresh_token ?? '', fetchFn })
    t.deepEqual((await fixture.server.tokenCheck.bearer(refreshed.access_token, 'mcp')).scopes, ['mcp:read'])
  }
})

test('REST: challenges name the metadata, the error and the required scopes', async (t) => {
  const fixture = await startOAuth(t)
  const metadata = `${issuer}/.well-known/oauth-protected-resource/v1`
  const none = await fixture.fetch(`${restResource}/projects/me`)
  t.is(none.headers.get('www-authenticate'), `Bearer resource_metadata="${metadata}", scope="api:read api:send"`)
  t.like(extractWWWAuthenticateParams(none), { resourceMetadataUrl: new URL(metadata), scope: 'api:read api:send' })
  const bad = await fixture.callRest('eyJhbGciOiJub25lIn0.e30.')
  t.is(bad.status, 401)
  t.is(bad.headers.get('www-authenticate'), `Bearer resource_metadata="${metadata}", scope="api:read api:send", error="invalid_token"`)
  const { access_token } = await fixture.signIn({ scope: 'api:read' })
  const weak = await fixture.callRest(access_token, '/v1/api-keys', 'POST', { name: 'x', scopes: ['api:read'] })
  t.like(weak, {
    status: 403,
    body: { error: { code: 'insufficient_scope', message: 'This requires the scope api:admin; the token has api:read.' } },
  })
  t.is(
    weak.headers.get('www-authenticate'),
    `Bearer error="insufficient_scope", scope="api:read api:send api:admin", resource_metadata="${metadata}"`,
  )
})
