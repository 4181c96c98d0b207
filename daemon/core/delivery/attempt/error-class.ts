/** What kind of trouble an attempt ran into: the words that failover conditions, breakers and the error rate share. */
import type { AttemptReport } from '../transport.ts'

/**
 * `rate_limited`: the provider asked for fewer messages; `misconfigured`: nothing will work before somebody changes a setting;
 * `unknown`: the provider may have the message; `transient`: everything else that may pass, such as 421, TLS, connections and timeouts.
 */
export type ErrorClass = 'transient' | 'rate_limited' | 'misconfigured' | 'unknown'

/** Our own doing: no provider is to blame, and no other one would do better. */
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

/** The class of what still has to be delivered after this attempt; undefined when nothing has, or when the trouble was our own. */
export function errorClass({ error, recipients }: Pick<AttemptReport, 'error' | 'recipients'>): ErrorClass | undefined {
  if (recipients.some(({ verdict }) => verdict === 'unknown')) return 'unknown'
  if (!recipients.some(({ verdict }) => verdict === 'transient')) return undefined
  if (error === undefined) return 'transient'
  if (ours.has(error.code)) return undefined
  if (error.class !== undefined) return error.class
  if (misconfigured.has(error.code)) return 'misconfigured'
  return error.code === 'provider_rate_limited' ? 'rate_limited' : 'transient'
}

/** How an attempt counts for its destination: `ours` says nothing about it. */
export type AttemptEffect = 'works' | 'busy' | 'fault' | 'ours'

/**
 * `fault`: connection, TLS, sign-in or silence, which meets every message alike; `busy`: it works but put everybody off;
 * `works`: it gave its word, be it a refusal of recipients.
 */
export function effectOf(report: Pick<AttemptReport, 'error' | 'recipients'>): AttemptEffect {
  const { error, recipients } = report
  if (error !== undefined && ours.has(error.code)) return 'ours'
  const found = errorClass(report)
  if (recipients.some(({ verdict }) => verdict === 'accepted' || verdict === 'permanent') || found === undefined) return 'works'
  if (found === 'rate_limited' || (error === undefined && found === 'transient')) return 'busy'
  return 'fault'
}
