/** Whether a message gets a return path of its own for each recipient (VERP), and at which domain. Pure. */
import { featureBar, type FeatureSettings } from '../../plan/features.ts'
import type { TraceVerp } from '../../trace/trace.ts'
import type { Submission } from '../submission.ts'

/** The outcome of a submission's wish for VERP, now. `bounceDomain` is that of the service. */
export function decideVerp(
  { mailFrom, verp }: Pick<Submission, 'mailFrom' | 'verp'>,
  organization: FeatureSettings,
  bounceDomain: string | null,
): TraceVerp | undefined {
  if (!verp) return undefined
  const bar = featureBar(organization, 'verp')
  if (bar === 'plan') return { off: `the plan ${organization.plan} does not include it`, code: 'plan' }
  if (bar === 'flag') return { off: 'it is turned off for this organization', code: 'flag' }
  // RFC 5321 §4.5.5: a notification must not cause another one
  if (mailFrom === '') return { off: 'the message has the null reverse-path', code: 'null_sender' }
  const domain = verp.bounceDomain ?? bounceDomain
  return domain === null ? { off: 'the service has no bounce domain', code: 'no_domain' } : { domain }
}
