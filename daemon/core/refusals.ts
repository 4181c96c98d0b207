/**
 * Table of all refusals: expected errors of the service. REST, MCP, GraphQL and SMTP render the same row, so that all entry points agree.
 * Spec "Errors".
 */
export interface RefusalRow {
  readonly http: number
  /** RFC 5321 §4.2 reply code and RFC 3463 enhanced code, for SMTP. */
  readonly smtp: `${number} ${number}.${number}.${number}`
  /** Default next step of the caller. */
  readonly nextAction: string
}

export const refusals = {
  validation_failed: { http: 400, smtp: '550 5.6.0', nextAction: 'fix_request' },
  malformed_submission: { http: 400, smtp: '550 5.6.0', nextAction: 'fix_fields' },
  file_uploads_unavailable: { http: 400, smtp: '550 5.6.0', nextAction: 'remove_files' },
  definition_invalid: { http: 400, smtp: '550 5.6.0', nextAction: 'fix_definition' },
  unauthorized: { http: 401, smtp: '535 5.7.8', nextAction: 'authenticate' },
  invalid_key: { http: 401, smtp: '535 5.7.8', nextAction: 'use_current_key' },
  key_kind_mismatch: { http: 401, smtp: '535 5.7.8', nextAction: 'mint_publishable_key' },
  invalid_signature: { http: 401, smtp: '535 5.7.8', nextAction: 'check_secret' },
  insufficient_scope: { http: 403, smtp: '550 5.7.1', nextAction: 'use_key_with_scope' },
  approval_required: { http: 403, smtp: '550 5.7.1', nextAction: 'ask_member' },
  sender_not_allowed: { http: 403, smtp: '553 5.7.1', nextAction: 'use_allowed_sender' },
  origin_not_allowed: { http: 403, smtp: '550 5.7.1', nextAction: 'use_allowed_origin' },
  recipient_not_allowed: { http: 403, smtp: '550 5.7.1', nextAction: 'use_allowed_recipient' },
  from_locked: { http: 403, smtp: '553 5.7.1', nextAction: 'use_locked_from' },
  attachments_not_allowed: { http: 403, smtp: '550 5.7.1', nextAction: 'remove_attachments' },
  captcha_required: { http: 400, smtp: '550 5.7.1', nextAction: 'solve_captcha' },
  captcha_failed: { http: 400, smtp: '550 5.7.1', nextAction: 'solve_captcha' },
  feature_disabled: { http: 403, smtp: '550 5.7.1', nextAction: 'ask_operator' },
  not_found: { http: 404, smtp: '550 5.1.1', nextAction: 'check_id' },
  form_not_found: { http: 404, smtp: '550 5.1.1', nextAction: 'check_id' },
  method_not_allowed: { http: 405, smtp: '502 5.5.1', nextAction: 'check_method' },
  request_timeout: { http: 408, smtp: '451 4.4.2', nextAction: 'retry_later' },
  conflict: { http: 409, smtp: '451 4.5.0', nextAction: 'read_and_retry' },
  scan_pending: { http: 409, smtp: '451 4.5.0', nextAction: 'retry_later' },
  draft_conflict: { http: 409, smtp: '451 4.5.0', nextAction: 'read_and_retry' },
  file_infected: { http: 410, smtp: '550 5.7.1', nextAction: 'ask_sender' },
  reveal_expired: { http: 410, smtp: '550 5.7.1', nextAction: 'rotate_key' },
  request_too_large: { http: 413, smtp: '552 5.3.4', nextAction: 'reduce_size' },
  file_too_large: { http: 413, smtp: '552 5.3.4', nextAction: 'reduce_size' },
  misdirected: { http: 421, smtp: '550 5.1.2', nextAction: 'use_public_address' },
  unsupported_media_type: { http: 415, smtp: '550 5.6.1', nextAction: 'use_application_json' },
  destination_misconfigured: { http: 422, smtp: '554 5.3.5', nextAction: 'fix_destination' },
  no_route: { http: 422, smtp: '550 5.4.4', nextAction: 'create_routing_rule' },
  quota_exceeded: { http: 402, smtp: '450 4.7.1', nextAction: 'settle_payment' },
  quota_exhausted_captures: { http: 402, smtp: '450 4.7.1', nextAction: 'upgrade' },
  rate_limit_exceeded: { http: 429, smtp: '451 4.7.1', nextAction: 'retry_later' },
  project_budget_exhausted: { http: 429, smtp: '450 4.7.1', nextAction: 'raise_send_budget' },
  quota_exhausted: { http: 429, smtp: '450 4.7.1', nextAction: 'upgrade' },
  captcha_unavailable: { http: 503, smtp: '451 4.7.1', nextAction: 'retry_later' },
  captcha_not_configured: { http: 503, smtp: '451 4.7.1', nextAction: 'set_captcha_secret' },
  feature_unavailable: { http: 503, smtp: '451 4.7.1', nextAction: 'ask_operator' },
  upload_failed: { http: 503, smtp: '451 4.3.0', nextAction: 'retry_later' },
  overloaded: { http: 503, smtp: '451 4.3.2', nextAction: 'retry_later' },
  storage_full: { http: 503, smtp: '452 4.3.1', nextAction: 'retry_later' },
  internal_error: { http: 500, smtp: '451 4.3.0', nextAction: 'retry_later' },
} as const satisfies Record<string, RefusalRow>

export type RefusalCode = keyof typeof refusals

export interface RefusalOptions {
  readonly nextAction?: string
  /** Returned to the caller under `details`; keys are wire names. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/** An expected error. The message is one sentence for the caller with the next step; it never reveals configuration. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly nextAction: string
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    // the stack of a refusal is never read, and costs ten times as much as everything else
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.nextAction = options.nextAction ?? refusals[code].nextAction
    this.details = options.details
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/** An invalid field of a request: its path, and a message with the correction. */
export interface FieldProblem {
  readonly path: string
  readonly message: string
}

/** Maximum further fields named in the message; the rest is only counted. */
const maxNames = 5
const maxName = 64

/** Returns the refusal of invalid input. The message explains the first field and names the others; `details.fields` lists all. */
export function invalid(fields: readonly FieldProblem[]): Refusal {
  const [first, ...others] = fields
  const message = first
    ? `${first.path}: ${first.message}${alsoNamed(others.filter(({ path }, i) => path !== first.path && others.findIndex((other) => other.path === path) === i))}`
    : 'The request is invalid.'
  return new Refusal('validation_failed', message, { details: { fields } })
}

function alsoNamed(others: readonly FieldProblem[]): string {
  if (others.length === 0) return ''
  const missing = others.filter(({ message }) => message.startsWith('is required')).length
  const what = missing === others.length ? 'missing' : missing === 0 ? 'wrong' : 'wrong or missing'
  const names = others.slice(0, maxNames).map(({ path }) => (path.length > maxName ? `${path.slice(0, maxName - 1)}…` : path))
  const more = others.length > maxNames ? ` and ${String(others.length - maxNames)} more` : ''
  return `; also ${what}: ${names.join(', ')}${more}`
}
