/** Discovery documents: content, CORS and addresses. */
import test from '#test'
import { exportJWK, generateKeyPair } from 'jose'
import type { Operation } from '../../../admin-api/operation/operation.ts'
import { discoveryOperations, protectedResource } from '../../../admin-api/oauth/discovery.ts'
import { mcpResource, restResource, startOAuth, type OAuthFixture } from './oauth-fixture.ts'

const base = 'https://post.example.ch'
const read = async (fixture: OAuthFixture, path: string, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fixture.fetch(base + path, { headers })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> }
}

test('discovery: the metadata of the authorization server is complete', async (t) => {
  const fixture = await startOAuth(t)
  const { status, headers, body } = await read(fixture, '/.well-known/oauth-authorization-server')
  t.is(status, 200)
  t.is(headers.get('cache-control'), 'public, max-age=300')
  t.deepEqual(body, {
    issuer: base,
    authorization_endpoint: `${base}/oauth/authorize`,
    token_endpoint: `${base}/oauth/token`,
    registration_endpoint: `${base}/oauth/register`,
    revocation_endpoint: `${base}/oauth/revoke`,
    jwks_uri: `${base}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin', 'api:read', 'api:send', 'api:admin'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [mcpResource, restResource],
    anonymous_bootstrap_client_id: 'anonymous-bootstrap',
  })
})

test('discovery: resource metadata has own addresses, and the root has that of MCP', async (t) => {
  const fixture = await startOAuth(t)
  const mcp = {
    resource: mcpResource,
    authorization_servers: [base],
    scopes_supported: ['mcp:read', 'mcp:send-sandbox'],
    bearer_methods_supported: ['header'],
    resource_name: 'Postern MCP',
  }
  const path = '/.well-known/oauth-protected-resource'
  t.deepEqual((await read(fixture, path)).body, mcp)
  t.deepEqual((await read(fixture, `${path}/mcp`)).body, mcp)
  const rest = { ...mcp, resource: restResource, scopes_supported: ['api:read', 'api:send'], resource_name: 'Postern REST API' }
  t.deepEqual((await read(fixture, `${path}/v1`)).body, rest)
})

test('protectedResource(): the well-known path precedes the resource path', (t) => {
  const urls = { issuer: base, resources: { mcp: 'https://mcp.example.org', rest: restResource } }
  t.is(protectedResource(urls, 'mcp').metadataUrl, 'https://mcp.example.org/.well-known/oauth-protected-resource')
  t.is(protectedResource(urls, 'rest').metadataUrl, `${base}/.well-known/oauth-protected-resource/v1`)
})

test('discovery: each of two origins has the root document of its resource', async (t) => {
  const fixture = await startOAuth(t)
  const urls = { issuer: base, resources: { mcp: 'https://mcp.example.org', rest: restResource } }
  const operations = discoveryOperations(urls, fixture.server.signingKeys)
  t.is(operations.length, 4, 'MCP has no path, so the root is its only address')
  const root = operations.find(({ operationId }) => operationId === 'readResourceMetadata') as Operation
  const resourceOf = (host: string | undefined) => {
    const { body } = root.handle({ headers: { host } } as never) as { body: string }
    return (JSON.parse(body) as { resource: string }).resource
  }
  t.deepEqual(['mcp.example.org', 'post.example.ch', 'other.example', undefined].map(resourceOf), [
    'https://mcp.example.org',
    restResource,
    'https://mcp.example.org',
    'https://mcp.example.org',
  ])
})

test('discovery: the key set contains only public keys', async (t) => {
  const fixture = await startOAuth(t)
  const { headers, body } = await read(fixture, '/.well-known/jwks.json')
  t.is(headers.get('cache-control'), 'public, max-age=300')
  const [key, ...others] = body['keys'] as Record<string, unknown>[]
  t.deepEqual(others, [])
  t.like(key, { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const secret = Object.keys(await exportJWK(privateKey)).filter((name) => !['kty', 'crv', 'x', 'y'].includes(name))
  t.true(secret.length > 0 && secret.every((name) => !(name in (key ?? {}))))
})

test('discovery: CORS allows endpoints for programs, not the authorization page', async (t) => {
  const fixture = await startOAuth(t)
  const open = ['/oauth/token', '/oauth/register', '/oauth/revoke', '/.well-known/jwks.json', '/.well-known/oauth-protected-resource/v1']
  for (const path of [...open, '/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource']) {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const preflight = await fixture.fetch(base + path, { method: 'OPTIONS', headers })
    t.is(preflight.status, 204, path)
    t.is(preflight.headers.get('access-control-allow-origin'), '*')
    t.is(preflight.headers.get('access-control-allow-methods'), 'GET, POST')
    t.is(preflight.headers.get('access-control-allow-headers'), 'authorization, content-type, mcp-protocol-version')
    t.is(preflight.headers.get('access-control-allow-credentials'), null)
  }
  const metadata = await fixture.fetch(`${base}/.well-known/oauth-authorization-server`, { headers: { origin: 'https://app.example' } })
  t.is(metadata.headers.get('access-control-allow-origin'), '*')
  const refused = await fixture.token({})
  t.is(refused.headers.get('access-control-allow-origin'), '*')
  t.is(refused.headers.get('access-control-expose-headers'), 'www-authenticate, retry-after')
  const tokens = await fixture.bootstrap()
  t.is(tokens.headers.get('access-control-allow-origin'), '*')
  t.is(tokens.headers.get('cache-control'), 'no-store')
  t.is(tokens.headers.get('pragma'), 'no-cache')
  for (const path of ['/oauth/authorize', '/v1/templates']) {
    const closed = await fixture.fetch(base + path, { method: 'OPTIONS', headers: { origin: 'https://app.example' } })
    t.is(closed.status, 405, path)
    t.is(closed.headers.get('access-control-allow-origin'), null)
  }
})

test('OpenAPI: omits the authorization server, which has its own metadata', async (t) => {
  const fixture = await startOAuth(t)
  const { body } = await read(fixture, '/openapi.json')
  t.deepEqual(
    Object.keys(body['paths'] as object).filter((path) => /oauth|well-known/.test(path)),
    [],
  )
  t.false((body['tags'] as { name: string }[]).some(({ name }) => name === 'oauth'))
})
