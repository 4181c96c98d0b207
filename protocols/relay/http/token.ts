/** Token endpoint of OAuth 2.0: the request with a refresh token or client credentials (RFC 6749 §6, RFC 6749 §4.4), and the answer. */
import type { OAuth2Grant } from '#core/routing/destinations/oauth2.ts'
import type { HttpRequest } from '../../outbound/request.ts'
import type { VendorAnswer } from './contract/vendor.ts'

/** `misconfigured`: only a change of the settings helps. `unavailable`: a retry may succeed. `said`: the provider's message. */
export type TokenVerdict =
  | { readonly kind: 'token'; readonly token: string; readonly expiresInSeconds: number; readonly refreshToken: string | undefined }
  | { readonly kind: 'misconfigured' | 'unavailable'; readonly said: string }

/** Lifetime of a token if the provider does not state it. */
const defaultSeconds = 600
const maxMessage = 300

/** Creates the request. The client identifies itself in the body (RFC 6749 §2.3.1), which Microsoft and Google both accept. */
export function tokenRequest({ tokenUrl, clientId, clientSecret, refreshToken, scope }: OAuth2Grant): HttpRequest {
  const form = new URLSearchParams({ grant_type: refreshToken === undefined ? 'client_credentials' : 'refresh_token', client_id: clientId })
  if (clientSecret !== undefined) form.set('client_secret', clientSecret)
  if (refreshToken !== undefined) form.set('refresh_token', refreshToken)
  if (scope !== undefined) form.set('scope', scope)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return { method: 'POST', url: tokenUrl, headers, body: Buffer.from(form.toString()) }
}

/** Parses an answer (RFC 6749 §5.1, RFC 6749 §5.2). `said` contains no secret of the grant, even if the provider repeats it. */
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

/** Returns only the error fields of RFC 6749 §5.2, so that this message cannot reveal other content of the operator's network. */
function said(status: number, body: Readonly<Record<string, unknown>>, { clientSecret, refreshToken }: OAuth2Grant): string {
  const message = [body['error'], body['error_description']].filter((word) => typeof word === 'string' && word !== '').join(': ')
  if (message === '') return status === 200 ? 'an answer without an access token' : `HTTP ${status}`
  const shown = [clientSecret, refreshToken].reduce<string>((all, secret) => (secret ? all.replaceAll(secret, '(removed)') : all), message)
  return shown.replaceAll(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, maxMessage)
}
