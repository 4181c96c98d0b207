/** Composes the authorization server. */
import { oauthUrls } from '#config/settings/load.ts'
import { reported } from '#core/activity.ts'
import type { Clock } from '#core/clock.ts'
import { Applications } from '#core/consent/applications.ts'
import { Consents } from '#core/consent/consents.ts'
import { KeptChoices } from '#core/consent/kept-choices.ts'
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
import { TokenEndpoint } from '#core/oauth/endpoints/token-endpoint.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { Fetch } from '#core/outbound/fetch.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { protectedResource } from '../../admin-api/oauth/discovery.ts'
import type { AllowingCore } from '../../admin-api/pages/page-operations.ts'
import { guardedFetch } from '../../protocols/outbound/clients.ts'
import type { OAuthServer } from './composed.ts'
import { alertsSwitched } from './layers/alerts.ts'
import { guardOf, type Composition, type Resolve } from './parts.ts'
import { workNames } from './works/work-names.ts'

export function oauthServer({ get, config, replace }: Pick<Composition, 'get' | 'config' | 'replace'>): OAuthServer {
  const core = get('core')
  const { database, clock } = core
  const { members, notices } = get('people')
  const parts = { ...core, scopesOfMember: members.scopesOfMember, notices, events: get('observer') }
  const urls = oauthUrls(config, config.http.listen)
  const fetch = replace.fetch ?? publicFetch(get('resolver'), clock, guardOf({ replace }, []))
  const registrations = new Registrations(parts)
  const clients = new Clients({ ...parts, registrations, documents: new ClientMetadataDocuments({ fetch, clock }) })
  const signingKeys = new SigningKeys(parts)
  const tokens = reported(get('activity'), new AccessTokens({ keys: signingKeys, urls, clock }), { read: 'check of an access token' })
  const grants = new Grants(parts)
  const uses = get('keyUses')
  const sandboxes = new Sandboxes({
    ...parts,
    ...alertsSwitched({ get }),
    onDeleted: () => core.database.daemons.wake(workNames.removals, () => get('administration').removals.wake()),
  })
  return {
    ...{ urls, signingKeys, registrations, clients, sandboxes, grants, uses },
    authorizations: new Authorizations({ ...parts, urls, clients, registrations, grants }),
    accessTokens: tokens,
    restResource: protectedResource(urls, 'rest'),
    agentResource: protectedResource(urls, 'mcp'),
    tokenCheck: new TokenCheck({ ...parts, tokens, grants, uses }),
    tokenEndpoint: new TokenEndpoint({ ...parts, urls, clients, tokens, grants, sandboxes }),
    revocation: new Revocation({ database, clients, tokens, grants }),
  }
}

/** Returns the parts for the pages where people authorize applications. */
export function allowingCore(get: Resolve): AllowingCore {
  const core = get('core')
  const people = get('people')
  const { members } = people
  const { authorizations } = get('oauth')
  const { projects } = get('administration')
  const applications = applicationsOf(get)
  const consents = new Consents({ ...core, members, projects, authorizations, applications })
  return { people, authorizations, applications, consents, choices: new KeptChoices(core) }
}

export const applicationsOf = (get: Resolve): Applications =>
  new Applications({ ...get('core'), members: get('people').members, grants: get('oauth').grants })

/** Fetches URLs from unauthenticated clients. It allows no private network, regardless of other settings. */
export const publicFetch = (resolver: Resolver, clock: Clock, guard = addressGuard([])): Fetch => guardedFetch({ resolver, clock, guard })
