/** The surfaces that tokens are for, and their scopes: in each, a later one includes those before it. Spec "Authentication" 1. */
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

/** Where the authorization server and what it protects stand on the web, without a slash at the end. */
export interface OAuthUrls {
  /** Also the base of the endpoints. */
  readonly issuer: string
  /** The resource, and so the audience, of each surface (RFC 8707 §2). */
  readonly resources: Readonly<Record<Surface, string>>
}

/** How far in the order of its surface; -1 is nothing at all. */
export type Level = number

/** What people of a role may do on each surface. */
const levelOfScope: Readonly<Record<Scope, Readonly<Record<Surface, Level>>>> = {
  'api:read': { mcp: 0, rest: 0 },
  'api:send': { mcp: 2, rest: 1 },
  'api:admin': { mcp: 3, rest: 2 },
}

/** What agents of a level may do in the core: as the scopes of REST, and whether all that they send stays in the sandbox. */
export function agentAccess(level: Level): { readonly scopes: readonly Scope[]; readonly sandboxOnly: boolean } {
  const sandboxOnly = level === scopesOfSurface.mcp.indexOf('mcp:send-sandbox')
  const scopes = scopesInOrder.filter((scope) => levelOfScope[scope].mcp <= level || (sandboxOnly && scope === 'api:send'))
  return { scopes, sandboxOnly }
}

/** What anonymous callers may do: read, and send into the sandbox. */
const anonymousLevel: Readonly<Record<Surface, Level>> = { mcp: 1, rest: 1 }

/** As far as nothing reaches other people: reading, and sending into the sandbox where there is a scope for that alone. */
export const quietLevel: Readonly<Record<Surface, Level>> = { mcp: 1, rest: 0 }

export const surfaceOf = (scope: OAuthScope): Surface => (scope.startsWith('mcp:') ? 'mcp' : 'rest')

const order = (surface: Surface): readonly OAuthScope[] => scopesOfSurface[surface]

export const levelOf = (scopes: readonly OAuthScope[], surface: Surface): Level =>
  Math.max(-1, ...scopes.map((scope) => order(surface).indexOf(scope)))

/** Whether it reaches settings, and so keys that outlive every token: to be allowed with a fresh proof of identity only. */
export const changesSettings = (scope: OAuthScope): boolean => order(surfaceOf(scope)).at(-1) === scope

/** Every scope of a surface, in order. */
export const scopesOf = (surface: Surface): readonly OAuthScope[] => order(surface)

/** Every scope up to a level. */
export const scopesUpTo = (surface: Surface, level: Level): readonly OAuthScope[] => order(surface).slice(0, level + 1)

/** Whether everything that is asked for was granted. */
export const covers = (granted: readonly OAuthScope[], asked: readonly OAuthScope[]): boolean =>
  asked.every((scope) => levelOf([scope], surfaceOf(scope)) <= levelOf(granted, surfaceOf(scope)))

export const ofSurface = (scopes: readonly OAuthScope[], surface: Surface): readonly OAuthScope[] =>
  scopes.filter((scope) => surfaceOf(scope) === surface)

/** What is asked for when nothing is said, and what challenges name: enough to begin with. */
export const usualScopes = (surface: Surface): readonly OAuthScope[] => scopesUpTo(surface, anonymousLevel[surface])

/** The scopes as far as anonymous callers may have them, on every surface. */
export const capAnonymous = (scopes: readonly OAuthScope[]): readonly OAuthScope[] =>
  surfaces.flatMap((surface) => scopesUpTo(surface, Math.min(levelOf(scopes, surface), anonymousLevel[surface])))

/** How far a role reaches on a surface. */
export const levelOfScopes = (scopes: readonly Scope[], surface: Surface): Level =>
  Math.max(-1, ...scopes.map((scope) => levelOfScope[scope][surface]))

export const levelOfAnonymous = (surface: Surface): Level => anonymousLevel[surface]

/** The scopes of a request, each once; none when it names none. Throws `invalid_scope` for an unknown one (RFC 6749 §3.3). */
export function parseScopes(text: string | undefined): readonly OAuthScope[] {
  const words = new Set((text ?? '').split(' ').filter((word) => word !== '' && word !== 'offline_access'))
  return [...words].map((word) => {
    const found = oauthScopes.find((scope) => scope === word)
    if (found) return found
    throw new OAuthError('invalid_scope', `The scopes are ${oauthScopes.join(' ')}; this request contains another one.`)
  })
}

/** The surfaces of the resources that were named, each once. Throws `invalid_target` for any other (RFC 8707 §2). */
export function parseResources(urls: OAuthUrls, named: readonly string[]): readonly Surface[] {
  return named.map((resource) => {
    const surface = surfaces.find((one) => urls.resources[one] === resource)
    if (surface) return surface
    throw new OAuthError('invalid_target', `The resource must be ${surfaces.map((one) => urls.resources[one]).join(' or ')}.`)
  })
}

/** The one surface that a token request is about; undefined when it names none. Throws `invalid_target`. */
export function parseResource(urls: OAuthUrls, named: readonly string[]): Surface | undefined {
  if (named.length > 1) throw new OAuthError('invalid_target', 'A token is for one resource; request one at a time.')
  return parseResources(urls, named)[0]
}
