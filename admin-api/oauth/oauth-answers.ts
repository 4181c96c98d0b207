/** Responses of the OAuth endpoints: uncached JSON, and errors in the format of RFC 6749 §5.2. */
import type { IncomingHttpHeaders } from 'node:http'
import { OAuthError, type OAuthErrorCode } from '#core/oauth/protocol/oauth-error.ts'
import { refusals, type FieldProblem, type Refusal } from '#core/refusals.ts'
import { answer, raw, type Answer } from '../operation/answer.ts'

/** RFC 6749 §5.1. */
const unkept = { 'cache-control': 'no-store', pragma: 'no-cache' } as const

export const unkeptJson = (wire: object, status = 200): Answer => answer(wire, { status, headers: unkept })

/** An empty response that is not cached. */
export const unkeptNothing = (): Answer => raw('', { contentType: 'text/plain', headers: unkept })

/** Error codes for refusals outside the endpoints. */
const errorOf: Partial<Record<Refusal['code'], string>> = {
  internal_error: 'server_error',
  overloaded: 'temporarily_unavailable',
  storage_full: 'temporarily_unavailable',
  conflict: 'temporarily_unavailable',
}

/** Returns error and description as JSON, with the status of the refusal. */
export const oauthRefusal = (refusal: Refusal, headers: IncomingHttpHeaders): Answer => {
  const error = refusal instanceof OAuthError ? refusal.error : (errorOf[refusal.code] ?? 'invalid_request')
  const status = refusal instanceof OAuthError ? refusal.http : refusals[refusal.code].http
  const { retryAfterSeconds } = refusal
  const allow = refusal.details?.['allow']
  return answer(
    { error, error_description: described(refusal.message) },
    {
      status,
      headers: {
        ...unkept,
        ...(retryAfterSeconds !== undefined && { 'retry-after': String(Math.ceil(retryAfterSeconds)) }),
        ...(Array.isArray(allow) && { allow: allow.join(', ') }),
        // a client that used HTTP authentication needs a challenge with the scheme
        ...(error === 'invalid_client' && headers.authorization !== undefined && { 'www-authenticate': 'Basic realm="oauth"' }),
      },
    },
  )
}

/** Returns the errors of the registration endpoint, which has separate codes for an invalid body (RFC 7591 §3.2.2). */
export const registrationRefusal = (refusal: Refusal, headers: IncomingHttpHeaders): Answer => {
  if (refusal instanceof OAuthError || refusal.code !== 'validation_failed') return oauthRefusal(refusal, headers)
  const [first] = (refusal.details?.['fields'] ?? []) as readonly FieldProblem[]
  const error: OAuthErrorCode = first?.path.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return oauthRefusal(new OAuthError(error, refusal.message), headers)
}

/** Replaces characters that a description must not contain (RFC 6749 §5.2). */
const described = (message: string): string => message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]+/g, '?')
