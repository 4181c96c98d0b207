/** Decides whether a message gets a separate return path for each recipient (VERP), and its domain. Pure. */
import { featureBar, type FeatureSettings } from '../../plan/features.ts'
import type { TraceVerp } from '../../trace/trace.ts'
import type { Submission } from '../submission.ts'

/** Decides about a request for VERP under the current settings. `bounceDomain` is the default domain of the service. */
export function decideVerp(
  { mailFrom, verp }: Pick<Submission, 'mailFrom' | 'verp'>,
  organization: FeatureSettings,
  bounceDomain: string | null,
): TraceVerp | undefined {
  if (!verp) return undefined
  const bar = featureBar(organization, 'verp')
  if (bar === 'plan') return { off: `the plan ${organization.plan} does not include it`, code: 'plan' }
  if (bar === 'flag') return { off: 'it is turned off for this organization', code: 'flag' }
  // RFC 5321 §4.5.5: a notification must not cause another notification
  if (mailFrom === '') return { off: 'the message has the null reverse-path', code: 'null_sender' }
  const domain = verp.bounceDomain ?? bounceDomain
  return domain === null ? { off: 'the service has no bounce domain', code: 'no_domain' } : { domain }
}
