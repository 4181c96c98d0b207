/** OAuth 2.0 instead of a password: the values for access tokens, completed for known providers and checked. */
import { findOAuth2Provider, type OAuth2GrantType } from '#config/mail/oauth2-providers.ts'
import { isPublicAddress, notPermitted, type AddressGuard } from '../../outbound/address-guard.ts'
import { addressesOf, ResolveError, type Resolver } from '../../outbound/resolver.ts'
import { invalid, type FieldProblem } from '../../refusals.ts'
import type { DestinationOAuth2 } from '../destination.ts'

/** As requested; values of a known provider can be omitted. */
export interface OAuth2Request {
  readonly tokenUrl?: string | undefined
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  readonly scope?: string | undefined
  /** Microsoft organization: a domain or an id. */
  readonly tenant?: string | undefined
}

/** Values of a token request: with a refresh token if set, else with client credentials (RFC 6749 §4.4). */
export interface OAuth2Grant {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  readonly scope?: string | undefined
}

interface Surroundings {
  readonly guard: AddressGuard
  readonly resolver: Resolver
}

const at = (field: string, message: string): FieldProblem => ({ path: `credentials.oauth2.${field}`, message })

const noTenant = ['common', 'organizations', 'consumers']

/** Throws `validation_failed` naming missing or invalid values. The DNS lookup of the endpoint may take seconds. */
export async function checkOAuth2(request: OAuth2Request, host: string, surroundings: Surroundings): Promise<OAuth2Grant> {
  const { clientId, clientSecret, refreshToken, tenant } = request
  const type = refreshToken === undefined ? 'client_credentials' : 'refresh_token'
  const provider = findOAuth2Provider(host)
  const problems = [...secretProblems(request, type, provider?.grants), ...tenantProblems(request, type, provider?.tokenUrl)]
  const filledIn = provider?.tokenUrl.replace('{tenant}', tenant ?? 'common')
  const tokenUrl = request.tokenUrl ?? filledIn
  if (tokenUrl === undefined) problems.push(at('token_url', `is required: there is no default for ${host}`))
  if (problems.length > 0 || tokenUrl === undefined) throw invalid(problems)
  const problem = await tokenUrlProblem(tokenUrl, surroundings)
  if (problem !== undefined) throw invalid([at('token_url', problem)])
  return { tokenUrl, clientId, clientSecret, refreshToken, scope: request.scope ?? provider?.scopes[type] }
}

function secretProblems(
  { clientSecret, refreshToken }: OAuth2Request,
  type: OAuth2GrantType,
  grants: readonly OAuth2GrantType[] | undefined,
): FieldProblem[] {
  if (grants?.includes(type) === false)
    return [at('refresh_token', 'is required: this provider issues mailbox tokens only for a refresh token')]
  if (clientSecret === undefined && refreshToken === undefined)
    return [at('client_secret', 'is required without refresh_token, as the application then signs in for itself')]
  return []
}

function tenantProblems({ tokenUrl, tenant }: OAuth2Request, type: OAuth2GrantType, known: string | undefined): FieldProblem[] {
  const takesTenant = tokenUrl === undefined && known?.includes('{tenant}')
  if (!takesTenant) return tenant === undefined ? [] : [at('tenant', 'must be omitted: only the token endpoint of Microsoft has a tenant')]
  if (tenant !== undefined && !/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(tenant))
    return [at('tenant', 'must be the id of the tenant or one of its domains, such as example.onmicrosoft.com')]
  if (type === 'client_credentials' && (tenant === undefined || noTenant.includes(tenant)))
    return [at('tenant', 'is required with client credentials: the id of the tenant or one of its domains')]
  return []
}

async function tokenUrlProblem(text: string, { guard, resolver }: Surroundings): Promise<string | undefined> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.hash !== '')
    return 'must be an https URL without user name and fragment'
  const port = Number(url.port || 443)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await presentAddresses(resolver, host)
  const permitted = addresses.filter((address) => guard(address, port))
  if (addresses.length > 0 && permitted.length === 0) return notPermitted('destinations', host, port)
  const allowedByOperator = permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))
  return port === 443 || allowedByOperator ? undefined : 'must be on port 443'
}

/** Returns an empty list if the name cannot be resolved, which may be temporary. */
async function presentAddresses(resolver: Resolver, host: string): Promise<readonly string[]> {
  try {
    return await addressesOf(resolver, host)
  } catch (error) {
    if (error instanceof ResolveError) return []
    throw error
  }
}

/** Returns the grant for storing; `seal` encrypts its secrets. */
export function sealOAuth2(grant: OAuth2Grant, seal: (secrets: string) => string): DestinationOAuth2 {
  const { tokenUrl, clientId, scope, clientSecret, refreshToken } = grant
  return {
    tokenUrl,
    clientId,
    scope: scope ?? null,
    grant: refreshToken === undefined ? 'client_credentials' : 'refresh_token',
    sealedSecrets: seal(JSON.stringify({ clientSecret, refreshToken })),
  }
}

/** Returns the grant with decrypted secrets; undefined if they cannot be decrypted. */
export function openOAuth2(
  { tokenUrl, clientId, scope, sealedSecrets }: DestinationOAuth2,
  open: (sealed: string) => string | undefined,
): OAuth2Grant | undefined {
  const opened = open(sealedSecrets)
  if (opened === undefined) return undefined
  const secrets = JSON.parse(opened) as Pick<OAuth2Grant, 'clientSecret' | 'refreshToken'>
  return { tokenUrl, clientId, ...(scope !== null && { scope }), ...secrets }
}
