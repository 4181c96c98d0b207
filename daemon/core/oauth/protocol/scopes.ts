/**
 * The two surfaces that access tokens are valid for (`mcp`: the MCP server, `rest`: the REST API), with their scopes in ascending order.
 * Each scope includes the preceding scopes of its surface. Spec "Authentication" 1.
 */
import { scopesInOrder, type Scope } from '../../access/principal/principal.ts'
import { OAuthError } from './oauth-error.ts'

export const surfaces = ['mcp', 'rest'] as const
export type Surface = (typeof surfaces)[number]

const scopesOfSurface = {
  mcp: ['mcp:read', 'mcp:send-sandbox', 'mcp:send', 'mcp:admin'],
  rest: scopesInOrder,
} as const

export type OAuthScope = (typeof scopesOfSurface)[Surface][number]
export const oauthScopes: readonly OAuthScope[] = surfaces.flatMap((surface): readonly OAuthScope[] => scopesOfSurface[surface])

/** URLs of the authorization server and its resources, without a trailing slash. */
export interface OAuthUrls {
  /** Also the base URL of the endpoints. */
  readonly issuer: string
  /** The resource of each surface, which is also the audience of its tokens (RFC 8707 §2). */
  readonly resources: Readonly<Record<Surface, string>>
}

/** Index of a scope in the ascending scopes of a surface; -1 means no scope. */
export type Level = number

/** Level of a member's scope on each surface. */
const levelOfScope: Readonly<Record<Scope, Readonly<Record<Surface, Level>>>> = {
  'api:read': { mcp: 0, rest: 0 },
  'api:send': { mcp: 2, rest: 1 },
  'api:admin': { mcp: 3, rest: 2 },
}

/** Returns the REST scopes of an agent at this level, and whether its messages are always captured. */
export function agentAccess(level: Level): { readonly scopes: readonly Scope[]; readonly sandboxOnly: boolean } {
  const sandboxOnly = level === scopesOfSurface.mcp.indexOf('mcp:send-sandbox')
  const scopes = scopesInOrder.filter((scope) => levelOfScope[scope].mcp <= level || (sandboxOnly && scope === 'api:send'))
  return { scopes, sandboxOnly }
}

/** Level of anonymous callers: they read, and send into the sandbox. */
const anonymousLevel: Readonly<Record<Surface, Level>> = { mcp: 1, rest: 1 }

/** Highest level without mail to other people: reading, and sending into the sandbox if the surface has such a scope. */
export const quietLevel: Readonly<Record<Surface, Level>> = { mcp: 1, rest: 0 }

export const surfaceOf = (scope: OAuthScope): Surface => (scope.startsWith('mcp:') ? 'mcp' : 'rest')

const order = (surface: Surface): readonly OAuthScope[] => scopesOfSurface[surface]

export const levelOf = (scopes: readonly OAuthScope[], surface: Surface): Level =>
  Math.max(-1, ...scopes.map((scope) => order(surface).indexOf(scope)))

/**
 * Returns whether the scope can change settings, including keys that outlive every token. Approving it requires a fresh proof of identity.
 */
export const changesSettings = (scope: OAuthScope): boolean => order(surfaceOf(scope)).at(-1) === scope

/** Returns all scopes of a surface in order. */
export const scopesOf = (surface: Surface): readonly OAuthScope[] => order(surface)

/** Returns all scopes up to a level. */
export const scopesUpTo = (surface: Surface, level: Level): readonly OAuthScope[] => order(surface).slice(0, level + 1)

/** Returns whether the grant includes all requested scopes. */
export const covers = (granted: readonly OAuthScope[], asked: readonly OAuthScope[]): boolean =>
  asked.every((scope) => levelOf([scope], surfaceOf(scope)) <= levelOf(granted, surfaceOf(scope)))

export const ofSurface = (scopes: readonly OAuthScope[], surface: Surface): readonly OAuthScope[] =>
  scopes.filter((scope) => surfaceOf(scope) === surface)

/** Default scopes of a request without scopes. */
export const usualScopes = (surface: Surface): readonly OAuthScope[] => scopesUpTo(surface, anonymousLevel[surface])

/** Returns the scopes that anonymous callers can have, on every surface. */
export const capAnonymous = (scopes: readonly OAuthScope[]): readonly OAuthScope[] =>
  surfaces.flatMap((surface) => scopesUpTo(surface, Math.min(levelOf(scopes, surface), anonymousLevel[surface])))

/** Returns the level of a role's scopes on a surface. */
export const levelOfScopes = (scopes: readonly Scope[], surface: Surface): Level =>
  Math.max(-1, ...scopes.map((scope) => levelOfScope[scope][surface]))

export const levelOfAnonymous = (surface: Surface): Level => anonymousLevel[surface]

/**
 * Returns the scopes of a request without duplicates; empty if the request has no scopes. Throws `invalid_scope` for an unknown scope (RFC
 * 6749 §3.3).
 */
export function parseScopes(text: string | undefined): readonly OAuthScope[] {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== '' && word !== 'offline_access'))
  return [...words].map((word) => {
    const found = oauthScopes.find((scope) => scope === word)
    if (found) return found
    throw new OAuthError('invalid_scope', `The scopes are ${oauthScopes.join(' ')}; this request contains another one.`)
  })
}

/** Returns the surfaces of the requested resources. Throws `invalid_target` for an unknown resource (RFC 8707 §2). */
export function parseResources(urls: OAuthUrls, named: readonly string[]): readonly Surface[] {
  return named.map((resource) => {
    const surface = surfaces.find((one) => urls.resources[one] === resource)
    if (surface) return surface
    throw new OAuthError('invalid_target', `The resource must be ${surfaces.map((one) => urls.resources[one]).join(' or ')}.`)
  })
}

/** Returns the surface of a token request; undefined if it has no resource. Throws `invalid_target`. */
export function parseResource(urls: OAuthUrls, named: readonly string[]): Surface | undefined {
  if (named.length > 1) throw new OAuthError('invalid_target', 'A token is for one resource; request one at a time.')
  return parseResources(urls, named)[0]
}
