/**
 * Access tokens for AUTH XOAUTH2. Fetches a token when needed, caches it until shortly before it expires, and runs one fetch at a time for
 * each grant.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '#core/clock.ts'
import type { OAuth2Grant } from '#core/routing/destinations/oauth2.ts'
import type { SecureNetwork } from '../../outbound/open-connection.ts'
import { OutboundFailure } from '../../outbound/failure.ts'
import { request, type HttpAnswer } from '../../outbound/request.ts'
import { Failure } from '../attempt-failure.ts'
import { readToken, tokenRequest } from '../http/token.ts'
import { RecentMap } from '#core/recent-map.ts'

const rules = { deadlineMs: 20_000, maxAnswerBytes: 64 * 1024, ifMore: 'fail', inClear: 'nowhere' } as const
/** A token is no longer used this long before it expires, or for the second half of its lifetime if that is shorter. */
const marginMs = 5 * 60_000
/** Number of cached grants. The oldest is dropped first and fetched again when needed. */
const maxGrants = 1000

/** A token. `kept`: it was cached, so it may have been revoked. */
export interface HeldToken {
  readonly token: string
  readonly kept: boolean
}

interface Entry {
  token: string | undefined
  /** Milliseconds on the monotonic clock. */
  usableUntil: number
  /** Newest refresh token, if the provider has replaced the configured one. */
  refreshToken: string | undefined
  fetching: Promise<string> | undefined
}

export class AccessTokens implements Disposable {
  readonly #network: SecureNetwork
  readonly #clock: Clock
  readonly #entries = new RecentMap<string, Entry>(maxGrants)
  readonly #closing = new AbortController()

  constructor(network: SecureNetwork) {
    this.#clock = network.clock
    this.#network = network
  }

  /** Returns an access token. Throws `Failure`: `destination_misconfigured` with the provider's message, or `token_unavailable`. */
  async get(grant: OAuth2Grant): Promise<HeldToken> {
    const entry = this.#entryOf(grant)
    if (entry.token !== undefined && this.#clock.monotonic() < entry.usableUntil) return { token: entry.token, kept: true }
    entry.fetching ??= this.#fetch(grant, entry).finally(() => (entry.fetching = undefined))
    return { token: await entry.fetching, kept: false }
  }

  /** Drops a token that the peer refused, unless it has already been replaced. The next call fetches another one. */
  discard(grant: OAuth2Grant, token: string): void {
    const entry = this.#entryOf(grant)
    if (entry.token === token) entry.token = undefined
  }

  /** Aborts running fetches. */
  [Symbol.dispose](): void {
    this.#closing.abort()
    this.#entries.clear()
  }

  #entryOf(grant: OAuth2Grant): Entry {
    const { tokenUrl, clientId, clientSecret, refreshToken, scope } = grant
    const key = createHash('sha256')
      .update(JSON.stringify([tokenUrl, clientId, clientSecret, refreshToken, scope]))
      .digest('base64')
    const known = this.#entries.get(key)
    if (known) return known
    const entry: Entry = { token: undefined, usableUntil: 0, refreshToken: undefined, fetching: undefined }
    this.#entries.set(key, entry)
    return entry
  }

  async #fetch(grant: OAuth2Grant, entry: Entry): Promise<string> {
    const { token, expiresInSeconds, refreshToken } = await this.#request({
      ...grant,
      refreshToken: entry.refreshToken ?? grant.refreshToken,
    })
    const lifeMs = expiresInSeconds * 1000
    entry.token = token
    entry.usableUntil = this.#clock.monotonic() + lifeMs - Math.min(marginMs, lifeMs / 2)
    entry.refreshToken = refreshToken ?? entry.refreshToken
    return token
  }

  async #request(grant: OAuth2Grant) {
    const { host } = new URL(grant.tokenUrl)
    const { status, body } = await this.#answer(grant, host)
    const verdict = readToken({ status, text: body.toString('utf8') }, grant)
    if (verdict.kind === 'token') return verdict
    const code = verdict.kind === 'misconfigured' ? 'destination_misconfigured' : 'token_unavailable'
    throw new Failure(code, 'auth', `The token endpoint ${host} said: ${verdict.said}`)
  }

  async #answer(grant: OAuth2Grant, host: string): Promise<HttpAnswer> {
    try {
      return await request(this.#network, tokenRequest(grant), rules, this.#closing.signal)
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error
      if (error.code === 'aborted') throw new Failure('closed', 'auth')
      const code = error.code === 'address_forbidden' ? 'destination_misconfigured' : 'token_unavailable'
      throw new Failure(code, 'auth', `The token endpoint ${host}: ${error.message}`)
    }
  }
}
