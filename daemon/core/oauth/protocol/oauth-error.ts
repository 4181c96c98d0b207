/** Errors of the authorization server with the codes of their RFCs. */
import { Refusal, type RefusalCode } from '../../refusals.ts'

interface ErrorRow {
  /** HTTP status if the error is the response body; not used for errors in redirects. */
  readonly http: number
  /** Refusal code that logs and metrics count the error as. */
  readonly counted: RefusalCode
}

const asked: ErrorRow = { http: 400, counted: 'validation_failed' }
const refused: ErrorRow = { http: 403, counted: 'insufficient_scope' }

/** RFC 6749 §5.2 and RFC 6749 §4.1.2.1, RFC 8707 §2, RFC 7591 §3.2.2, RFC 9101 §6.3, and OpenID Connect for `prompt=none`. */
const rows = {
  invalid_request: asked,
  invalid_client: { http: 401, counted: 'unauthorized' },
  invalid_grant: asked,
  unauthorized_client: asked,
  unsupported_grant_type: asked,
  unsupported_response_type: asked,
  invalid_scope: asked,
  invalid_target: asked,
  invalid_redirect_uri: asked,
  invalid_client_metadata: asked,
  request_not_supported: asked,
  request_uri_not_supported: asked,
  access_denied: refused,
  login_required: refused,
  consent_required: refused,
  interaction_required: refused,
  temporarily_unavailable: { http: 429, counted: 'rate_limit_exceeded' },
} as const satisfies Record<string, ErrorRow>

export type OAuthErrorCode = keyof typeof rows

/** An expected refusal of the authorization server. The message is its `error_description`: one sentence without values of the request. */
export class OAuthError extends Refusal {
  readonly error: OAuthErrorCode

  constructor(error: OAuthErrorCode, description: string, options: { readonly retryAfterSeconds?: number } = {}) {
    super(rows[error].counted, description, options)
    this.error = error
  }

  get http(): number {
    return rows[this.error].http
  }
}
