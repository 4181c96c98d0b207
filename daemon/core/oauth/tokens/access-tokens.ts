/** Access tokens: JWTs with holder, scopes and one surface (RFC 9068 §2). */
import { randomUUID } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Clock } from '../../clock.ts'
import { parseScopes, type OAuthScope, type OAuthUrls, type Surface } from '../protocol/scopes.ts'
import { signingAlgorithm, type SigningKeys } from './signing-keys.ts'

export interface AccessTokenOptions {
  readonly keys: SigningKeys
  readonly urls: OAuthUrls
  readonly clock: Clock
}

/** Claims of a token except its times. Excludes plan, role and claim status, which every request reads from the store. */
export interface AccessTokenFacts {
  readonly grantId: string
  readonly organizationId: string
  readonly projectId: string
  /** Null for anonymous callers. */
  readonly userId: string | null
  readonly clientId: string
  readonly scopes: readonly OAuthScope[]
}

/** A valid token of this issuer for this surface. The caller must check whether its grant is still valid. */
export interface ReadAccessToken {
  readonly grantId: string
  readonly scopes: readonly OAuthScope[]
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export const accessTokenSeconds = 3600
const skewSeconds = 30
const type = 'at+jwt'
const requiredClaims = ['sub', 'client_id', 'iat', 'exp', 'jti', 'scope', 'gid']

export class AccessTokens {
  readonly #options: AccessTokenOptions

  constructor(options: AccessTokenOptions) {
    this.#options = options
  }

  async issue(surface: Surface, { grantId, organizationId, projectId, userId, clientId, scopes }: AccessTokenFacts): Promise<string> {
    const { keys, urls, clock } = this.#options
    const audience = urls.resources[surface]
    const { SignJWT } = await import('jose') // loaded with the first token, because many daemons never use tokens
    const { kid, key } = await keys.current()
    const now = Math.floor(clock.now() / 1000)
    const own = { org: organizationId, prj: projectId, gid: grantId, kind: userId === null ? 'anonymous' : 'user' }
    return new SignJWT({ client_id: clientId, scope: scopes.join(' '), ...own })
      .setProtectedHeader({ alg: signingAlgorithm, typ: type, kid })
      .setIssuer(urls.issuer)
      .setAudience(audience)
      .setSubject(userId ?? `anon:${projectId}`)
      .setIssuedAt(now)
      .setExpirationTime(now + accessTokenSeconds)
      .setJti(randomUUID())
      .sign(key)
  }

  /** Returns undefined unless the text is a valid token of this issuer for this surface (RFC 9068 §4). */
  async read(token: string, surface: Surface): Promise<ReadAccessToken | undefined> {
    const audience = this.#options.urls.resources[surface]
    const payload = await this.#verify(token, audience)
    // a list of audiences is refused, even if it contains our audience
    if (payload?.exp === undefined || payload.aud !== audience) return undefined
    return { grantId: String(payload['gid']), scopes: parseScopes(String(payload['scope'])), expiresAt: payload.exp * 1000 }
  }

  async #verify(token: string, audience: string): Promise<JWTPayload | undefined> {
    const { keys, urls, clock } = this.#options
    const { errors, jwtVerify } = await import('jose')
    try {
      const { payload } = await jwtVerify(
        token,
        async ({ kid }) => (await keys.find(kid)) ?? Promise.reject(new errors.JWKSNoMatchingKey()),
        {
          algorithms: [signingAlgorithm],
          issuer: urls.issuer,
          audience,
          typ: type,
          requiredClaims,
          clockTolerance: skewSeconds,
          maxTokenAge: accessTokenSeconds,
          currentDate: new Date(clock.now()),
        },
      )
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }
}
