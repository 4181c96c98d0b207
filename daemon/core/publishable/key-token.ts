/** Token of a publishable key: `svcpub_` and a JWT (RFC 7519), which only this service signs and reads. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'

export const publishablePrefix = 'svcpub_'

/** Client id in the tokens. It belongs to the dashboard's public keys and cannot sign in. */
const clientId = 'dashboard-public'

export interface TokenFacts {
  readonly keyId: string
  readonly tokenId: string
  readonly organizationId: string
  readonly projectId: string
}

export interface KeyTokenOptions {
  readonly secrets: Pick<SecretBox, 'mac'>
  /** URL of the authorization server. */
  readonly issuer: string
  /** URL of the REST API, the only audience of the tokens. */
  readonly audience: string
}

/** RFC 7515 §4.1: HMAC-SHA-256 as algorithm; the type distinguishes these tokens from other tokens. */
const header = encode({ alg: 'HS256', typ: 'publishable+jwt' })

export class KeyTokens {
  readonly #options: KeyTokenOptions
  readonly #key: Buffer

  constructor(options: KeyTokenOptions) {
    this.#options = options
    this.#key = options.secrets.mac('publishable keys', Buffer.alloc(0))
  }

  /** `issuedAt` is in milliseconds since the epoch. */
  sign({ keyId, tokenId, organizationId, projectId }: TokenFacts, issuedAt: number): string {
    const { issuer, audience } = this.#options
    const own = { kind: 'publishable', client_id: clientId, org: organizationId, prj: projectId }
    const claims = { iss: issuer, aud: audience, sub: keyId, jti: tokenId, iat: Math.floor(issuedAt / 1000), ...own }
    const signed = `${header}.${encode(claims)}`
    return `${publishablePrefix}${signed}.${this.#signature(signed)}`
  }

  /** Returns the token id of a valid token; undefined for any other text. */
  read(token: string): string | undefined {
    const [head, body = '', signature = '', ...rest] = token.slice(publishablePrefix.length).split('.')
    if (!token.startsWith(publishablePrefix) || head !== header || rest.length > 0) return undefined
    const given = Buffer.from(signature) // compares text, because decoding ignores characters outside base64url
    const right = Buffer.from(this.#signature(`${head}.${body}`))
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as Readonly<Record<string, unknown>>
    const isMeant = loopbackByName(String(claims['aud'])) === loopbackByName(this.#options.audience) && claims['client_id'] === clientId
    return isMeant && typeof claims['jti'] === 'string' ? claims['jti'] : undefined
  }

  #signature(signed: string): string {
    return createHmac('sha256', this.#key).update(signed).digest('base64url')
  }
}

/** Treats loopback addresses as `localhost`. A service without public URL has used both forms, and keys of both remain valid. */
const loopbackByName = (address: string): string => address.replace(/^http:\/\/(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, 'http://localhost')

/** Returns a short form for people: all tokens start with the same characters, so the end identifies a token. */
export const previewToken = (token: string): string => `${publishablePrefix}…${token.slice(-4)}`

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
