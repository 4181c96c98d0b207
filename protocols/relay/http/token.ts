/** The token endpoint of OAuth 2.0: its request by refresh token or client credentials (RFC 6749 §6, RFC 6749 §4.4), and its answer. */
import type { OAuth2Grant } from '#core/routing/destinations/oauth2.ts'
import type { HttpRequest } from '../../outbound/request.ts'
import type { VendorAnswer } from './contract/vendor.ts'

/** `misconfigured`: nothing but a change of the settings helps. `unavailable`: it may work later. `said` is the provider's own words. */
export type TokenVerdict =
  | { readonly kind: 'token'; readonly token: string; readonly expiresInSeconds: number; readonly refreshToken: string | undefined }
  | { readonly kind: 'misconfigured' | 'unavailable'; readonly said: string }

/** Of a provider that does not say. */
const defaultSeconds = 600
const maxWords = 300

/** RFC 6749 §2.3.1: the client says who it is in the body, which Microsoft and Google both take. */
export function tokenRequest({ tokenUrl, clientId, clientSecret, refreshToken, scope }: OAuth2Grant): HttpRequest {
  const form = new URLSearchParams({ grant_type: refreshToken === undefined ? 'client_credentials' : 'refresh_token', client_id: clientId })
  if (clientSecret !== undefined) form.set('client_secret', clientSecret)
  if (refreshToken !== undefined) form.set('refresh_token', refreshToken)
  if (scope !== undefined) form.set('scope', scope)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return { method: 'POST', url: tokenUrl, headers, body: Buffer.from(form.toString()) }
}

/** Reads RFC 6749 §5.1 and RFC 6749 §5.2. No secret of the grant is in what was said, whatever the provider wrote. */
export function readToken({ status, text }: Pick<VendorAnswer, 'status' | 'text'>, grant: OAuth2Grant): TokenVerdict {
  const body = asObject(text)
  const token = body['access_token']
  if (status === 200 && typeof token === 'string' && /^[\x21-\x7e]{1,16384}$/.test(token)) {
    const seconds = Number(body['expires_in'])
    const next = body['refresh_token']
    return {
      kind: 'token',
      token,
      expiresInSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : defaultSeconds,
      refreshToken: typeof next === 'string' && next !== '' ? next : undefined,
    }
  }
  const busy = status === 408 || status === 429 || status >= 500 || body['error'] === 'temporarily_unavailable'
  return { kind: busy ? 'unavailable' : 'misconfigured', said: said(status, body, grant) }
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** Only the fields of RFC 6749 §5.2 are reported, so that an address of the operator's network could not be read through them. */
function said(status: number, body: Readonly<Record<string, unknown>>, { clientSecret, refreshToken }: OAuth2Grant): string {
  const words = [body['error'], body['error_description']].filter((word) => typeof word === 'string' && word !== '').join(': ')
  if (words === '') return status === 200 ? 'an answer without an access token' : `HTTP ${status}`
  const shown = [clientSecret, refreshToken].reduce<string>((all, secret) => (secret ? all.replaceAll(secret, '(removed)') : all), words)
  return shown.replaceAll(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, maxWords)
}
