/** Responses of the OAuth endpoints: JSON that is not cached, and errors in the form of RFC 6749 §5.2. */
import type { IncomingHttpHeaders } from 'node:http'
import { OAuthError, type OAuthErrorCode } from '#core/oauth/protocol/oauth-error.ts'
import { refusals, type FieldProblem, type Refusal } from '#core/refusals.ts'
import { answer, raw, type Answer } from '../operation/answer.ts'

/** RFC 6749 §5.1. */
const unkept = { 'cache-control': 'no-store', pragma: 'no-cache' } as const

export const unkeptJson = (wire: object, status = 200): Answer => answer(wire, { status, headers: unkept })

/** An empty answer that is not cached. */
export const unkeptNothing = (): Answer => raw('', { contentType: 'text/plain', headers: unkept })

/** The error codes of what the machinery refuses before an endpoint is asked. */
const errorOf: Partial<Record<Refusal['code'], string>> = {
  internal_error: 'server_error',
  overloaded: 'temporarily_unavailable',
  storage_full: 'temporarily_unavailable',
  conflict: 'temporarily_unavailable',
}

/** Error and description as JSON, with the status of the refusal. */
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
        // a client that tried a scheme learns which one there is
        ...(error === 'invalid_client' && headers.authorization !== undefined && { 'www-authenticate': 'Basic realm="oauth"' }),
      },
    },
  )
}

/** The same for the registration endpoint, which has codes of its own for what is wrong with the body (RFC 7591 §3.2.2). */
export const registrationRefusal = (refusal: Refusal, headers: IncomingHttpHeaders): Answer => {
  if (refusal instanceof OAuthError || refusal.code !== 'validation_failed') return oauthRefusal(refusal, headers)
  const [first] = (refusal.details?.['fields'] ?? []) as readonly FieldProblem[]
  const error: OAuthErrorCode = first?.path.startsWith('redirect_uris') ? 'invalid_redirect_uri' : 'invalid_client_metadata'
  return oauthRefusal(new OAuthError(error, refusal.message), headers)
}

/** The characters that a description may have (RFC 6749 §5.2). */
const described = (message: string): string => message.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]+/g, '?')
