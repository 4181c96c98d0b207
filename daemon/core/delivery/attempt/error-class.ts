/** Classes of delivery errors, used by failover conditions, breakers and the error rate. */
import type { AttemptReport } from '../transport.ts'

/**
 * `rate_limited`: the provider requests fewer messages. `misconfigured`: every attempt fails until a setting changes. `unknown`: the
 * provider may have the message. `transient`: other temporary errors, such as 421, TLS, connections and timeouts.
 */
export type ErrorClass = 'transient' | 'rate_limited' | 'misconfigured' | 'unknown'

/** Errors of this service. The provider is not at fault, and another provider would not help. */
const ours: ReadonlySet<string> = new Set([
  'aborted',
  'closed',
  'content_failed',
  'start_not_recorded',
  'interrupted',
  'signing_key_locked',
])
const misconfigured: ReadonlySet<string> = new Set([
  'destination_misconfigured',
  'address_forbidden',
  'starttls_unavailable',
  'auth_unavailable',
  'auth_needs_tls',
  'auth_failed',
])

/**
 * Returns the class of the error for the undelivered recipients. Undefined if no recipient remains, or if the error is this service's own.
 */
export function errorClass({ error, recipients }: Pick<AttemptReport, 'error' | 'recipients'>): ErrorClass | undefined {
  if (recipients.some(({ verdict }) => verdict === 'unknown')) return 'unknown'
  if (!recipients.some(({ verdict }) => verdict === 'transient')) return undefined
  if (error === undefined) return 'transient'
  if (ours.has(error.code)) return undefined
  if (error.class !== undefined) return error.class
  if (misconfigured.has(error.code)) return 'misconfigured'
  return error.code === 'provider_rate_limited' ? 'rate_limited' : 'transient'
}

/** Effect of an attempt on the health of its destination. `ours` has no effect. */
export type AttemptEffect = 'works' | 'busy' | 'fault' | 'ours'

/**
 * `fault`: connection, TLS, sign-in or no response, which affects every message. `busy`: it responds but deferred all recipients. `works`:
 * it gave a final reply, including refusals of recipients.
 */
export function effectOf(report: Pick<AttemptReport, 'error' | 'recipients'>): AttemptEffect {
  const { error, recipients } = report
  if (error !== undefined && ours.has(error.code)) return 'ours'
  const found = errorClass(report)
  if (recipients.some(({ verdict }) => verdict === 'accepted' || verdict === 'permanent') || found === undefined) return 'works'
  if (found === 'rate_limited' || (error === undefined && found === 'transient')) return 'busy'
  return 'fault'
}
