/** Discovery documents: metadata of the authorization server and of its resources, and signing keys (RFC 8414, RFC 9728, RFC 7517). */
import { anonymousBootstrapClientId, clientAuthentications, grantTypes } from '#core/oauth/clients/client.ts'
import { oauthScopes, scopesOf, surfaces, usualScopes, type OAuthUrls, type Surface } from '#core/oauth/protocol/scopes.ts'
import type { SigningKeys } from '#core/oauth/tokens/signing-keys.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import { oauthPaths } from './paths.ts'

const wellKnown = '/.well-known'
const resourceMetadata = `${wellKnown}/oauth-protected-resource`
const readable = {
  method: 'GET',
  tags: ['oauth'],
  scope: 'none',
  allowsAnyOrigin: true,
  hiddenFromOpenApi: true,
  response: media('application/json'),
} as const

/** Returns the metadata URL of a resource: its path is appended to the well-known path (RFC 9728 §3.1). */
function resourceMetadataUrl({ resources }: OAuthUrls, surface: Surface): string {
  const { origin, pathname } = new URL(resources[surface])
  return `${origin}${resourceMetadata}${pathname === '/' ? '' : pathname}`
}

/** The resource of a surface, for challenges. */
export const protectedResource = (urls: OAuthUrls, surface: Surface): ProtectedResource => ({
  metadataUrl: resourceMetadataUrl(urls, surface),
  usualScopes: usualScopes(surface),
  scopes: scopesOf(surface),
})

export function discoveryOperations(urls: OAuthUrls, keys: SigningKeys): readonly Operation[] {
  const byPath = surfaces.filter((surface) => new URL(urls.resources[surface]).pathname !== '/')
  return [
    operation({
      ...readable,
      path: `${wellKnown}/oauth-authorization-server`,
      operationId: 'readAuthorizationServerMetadata',
      summary: 'Get the metadata of the authorization server (RFC 8414)',
      handle: () => document(serverMetadata(urls)),
    }),
    operation({
      ...readable,
      path: `${wellKnown}/jwks.json`,
      operationId: 'readSigningKeys',
      summary: 'Get the keys that sign access tokens (RFC 7517)',
      handle: async () => document({ keys: await keys.published() }),
    }),
    operation({
      ...readable,
      path: resourceMetadata,
      operationId: 'readResourceMetadata',
      summary: 'Get the metadata of the protected resource of this origin (RFC 9728)',
      handle: ({ headers }) => document(resourceDocument(urls, surfaceOfRoot(urls, headers.host))),
    }),
    ...byPath.map((surface) =>
      operation({
        ...readable,
        path: new URL(resourceMetadataUrl(urls, surface)).pathname,
        operationId: `readResourceMetadataOf${surface === 'mcp' ? 'Mcp' : 'Rest'}`,
        summary: 'Get the metadata of a protected resource (RFC 9728)',
        handle: () => document(resourceDocument(urls, surface)),
      }),
    ),
  ]
}

/** Returns the surface of the root document. If one origin serves both surfaces, it is MCP, whose clients read the root document. */
function surfaceOfRoot({ resources }: OAuthUrls, host: string | undefined): Surface {
  const [mcp, rest] = [new URL(resources.mcp), new URL(resources.rest)]
  return mcp.origin !== rest.origin && host === rest.host ? 'rest' : 'mcp'
}

/** Cacheable by everyone for five minutes. */
const document = (content: object): Answer =>
  raw(JSON.stringify(content), { contentType: 'application/json', headers: { 'cache-control': 'public, max-age=300' } })

const resourceDocument = ({ issuer, resources }: OAuthUrls, surface: Surface): object => ({
  resource: resources[surface],
  authorization_servers: [issuer],
  // clients without a challenge request all of these
  scopes_supported: usualScopes(surface),
  bearer_methods_supported: ['header'],
  resource_name: surface === 'mcp' ? 'Postern MCP' : 'Postern REST API',
})

const serverMetadata = (urls: OAuthUrls): object => ({
  issuer: urls.issuer,
  authorization_endpoint: urls.issuer + oauthPaths.authorize,
  token_endpoint: urls.issuer + oauthPaths.token,
  registration_endpoint: urls.issuer + oauthPaths.register,
  revocation_endpoint: urls.issuer + oauthPaths.revoke,
  jwks_uri: `${urls.issuer}${wellKnown}/jwks.json`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: grantTypes,
  token_endpoint_auth_methods_supported: clientAuthentications,
  revocation_endpoint_auth_methods_supported: clientAuthentications,
  code_challenge_methods_supported: ['S256'],
  scopes_supported: oauthScopes,
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  protected_resources: surfaces.map((surface) => urls.resources[surface]),
  anonymous_bootstrap_client_id: anonymousBootstrapClientId,
})
