/** Access tokens: JWTs that say whose they are and what they are for, for one surface each (RFC 9068 §2). */
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

/** What a token says besides its times. Plan, role and whether it was claimed are read live and not in it. */
export interface AccessTokenFacts {
  readonly grantId: string
  readonly organizationId: string
  readonly projectId: string
  /** null: anonymous. */
  readonly userId: string | null
  readonly clientId: string
  readonly scopes: readonly OAuthScope[]
}

/** A token that is ours, for this surface and not expired; whether its grant still stands is another question. */
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
    const { SignJWT } = await import('jose') // loaded with the first token, as many daemons meet none
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

  /** Undefined for everything that is no valid token of this issuer for this very surface (RFC 9068 §4). */
  async read(token: string, surface: Surface): Promise<ReadAccessToken | undefined> {
    const audience = this.#options.urls.resources[surface]
    const payload = await this.#verify(token, audience)
    // a list that holds our audience among others is no token of ours
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
