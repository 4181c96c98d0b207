/** The authorization server, from the parts that the composition root has. */
import { oauthUrls, type Config } from '#config/settings/load.ts'
import type { ScopesOfMember } from '#core/access/principal/member-scopes.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import { Audit } from '#core/writes/audit.ts'
import type { Clock } from '#core/clock.ts'
import type { Projects } from '#core/administration/projects.ts'
import { Applications } from '#core/consent/applications.ts'
import { Consents } from '#core/consent/consents.ts'
import { AccessTokens } from '#core/oauth/tokens/access-tokens.ts'
import { Authorizations } from '#core/oauth/endpoints/authorizations.ts'
import { ClientMetadataDocuments } from '#core/oauth/clients/client-metadata-documents.ts'
import { Clients } from '#core/oauth/clients/clients.ts'
import { Grants } from '#core/oauth/grants/grants.ts'
import { Registrations } from '#core/oauth/clients/registrations.ts'
import { Revocation } from '#core/oauth/endpoints/revocation.ts'
import { Sandboxes } from '#core/oauth/endpoints/sandboxes.ts'
import { SigningKeys } from '#core/oauth/tokens/signing-keys.ts'
import { TokenCheck } from '#core/oauth/tokens/token-check.ts'
import { TokenEndpoint, type TokenEvents, type TokenNotices } from '#core/oauth/endpoints/token-endpoint.ts'
import { usualScopes } from '#core/oauth/protocol/scopes.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { Fetch } from '#core/outbound/fetch.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { People } from '#core/people/people.ts'
import type { Policies } from '#core/routing/policy/policy.ts'
import type { SettingWrites } from '#core/writes/setting-writes.ts'
import type { Database } from '#store/database.ts'
import type { ProtectedResource } from '../../admin-api/credentials/challenge.ts'
import { resourceMetadataUrl } from '../../admin-api/oauth/discovery.ts'
import type { OAuthCore } from '../../admin-api/oauth/operations.ts'
import type { AllowingCore } from '../../admin-api/pages/operations.ts'
import { guardedFetch } from '../../protocols/outbound/clients.ts'

export interface OAuthParts {
  readonly config: Pick<Config, 'baseUrl' | 'authUrl' | 'mcpUrl' | 'smtpHost' | 'http'>
  readonly database: Database
  readonly policies: Policies
  readonly writes: SettingWrites
  readonly secrets: SecretBox
  readonly clock: Clock
  readonly fetch: Fetch
  readonly rightsOfMember: ScopesOfMember
  /** There is an MCP endpoint; without one nothing of the authorization server names it. */
  readonly servesMcp?: boolean | undefined
  readonly events: TokenEvents
  readonly notices: TokenNotices
  /** A sandbox was deleted, and its rows are to be removed. */
  readonly onDeleted: () => void
}

/** The server, and what others need of it. */
export interface OAuthServer extends OAuthCore {
  /** What REST callers without a good token are pointed to. */
  readonly restResource: ProtectedResource
  readonly clients: Clients
  readonly tokenCheck: TokenCheck
  readonly accessTokens: AccessTokens
  readonly sandboxes: Sandboxes
  readonly grants: Grants
  readonly authorizations: Authorizations
}

export function oauthServer(parts: OAuthParts): OAuthServer {
  const { config, database, clock } = parts
  const audit = new Audit({ database, clock })
  const urls = oauthUrls(config, config.http.listen, parts.servesMcp)
  const registrations = new Registrations(parts)
  const clients = new Clients({ ...parts, registrations, documents: new ClientMetadataDocuments(parts) })
  const signingKeys = new SigningKeys(parts)
  const tokens = new AccessTokens({ keys: signingKeys, urls, clock })
  const grants = new Grants({ ...parts, audit })
  const sandboxes = new Sandboxes(parts)
  return {
    ...{ urls, signingKeys, registrations, clients, sandboxes, grants },
    authorizations: new Authorizations({ ...parts, urls, clients, registrations, grants, audit }),
    accessTokens: tokens,
    restResource: { metadataUrl: resourceMetadataUrl(urls, 'rest'), usualScopes: usualScopes('rest') },
    tokenCheck: new TokenCheck({ database, rightsOfMember: parts.rightsOfMember, tokens, grants, clock }),
    tokenEndpoint: new TokenEndpoint({ ...parts, urls, clients, tokens, grants, sandboxes }),
    revocation: new Revocation({ database, clients, tokens, grants }),
  }
}

export interface AllowingParts {
  readonly database: Database
  readonly policies: Policies
  readonly clock: Clock
  readonly people: People
  readonly projects: Projects
}

/** What the pages need on which people let applications in. */
export function allowingCore(
  { authorizations, grants }: Pick<OAuthServer, 'authorizations' | 'grants'>,
  parts: AllowingParts,
): AllowingCore {
  const { people, policies, projects } = parts
  const { members } = people
  const applications = new Applications({ ...parts, members, grants })
  return { people, authorizations, applications, consents: new Consents({ policies, members, projects, authorizations, applications }) }
}

/** Fetches addresses named by unauthenticated clients, so no private network is open to it, whatever the operator allows elsewhere. */
export const publicFetch = (resolver: Resolver, clock: Clock): Fetch => guardedFetch({ resolver, clock, guard: addressGuard([]) })
