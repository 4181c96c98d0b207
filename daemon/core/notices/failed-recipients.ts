/** Describes each failed recipient in a notice: the reply verbatim, the reason in plain words, and the next step. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import type { ConfigCatalogs } from '#config/catalogs/config-catalogs.ts'
import { classify, type RefusalFacts } from '../feedback/apply/classify.ts'
import type { FailedRecipient } from '../submission/compose/notice-message.ts'
import type { AttemptRecord } from '../trace/attempt-record.ts'
import type { TraceReport } from '../trace/trace-report.ts'
import type { TraceRecipient } from '../trace/trace.ts'

const texts = (): ConfigCatalogs['mails']['failureNotice'] => catalogIn('mails', 'en').failureNotice

/** `reports` are the reports of the trace, `attempts` are all attempts in order. */
export function failedRecipient(
  recipient: TraceRecipient,
  reports: readonly TraceReport[],
  attempts: readonly AttemptRecord[],
): FailedRecipient {
  const { address, suppression, reply } = recipient
  if (suppression) return suppressed(address, suppression)
  const last = attempts.findLast(({ recipients }) => recipients?.some((one) => one.address === address)) ?? attempts.at(-1)
  const at = { attemptedAt: last?.endedAt ?? last?.startedAt }
  const isExpired = last?.recipients?.some((one) => one.address === address && one.verdict === 'transient') === true
  const bounced = reports.find((one) => one.type === 'bounced' && one.recipient === address && !one.isUnverified)
  if (bounced) return { ...refused(address, bounced, isExpired), ...at, attemptedAt: bounced.occurredAt ?? bounced.at }
  if (reply) {
    const replied = reply.text.replaceAll(/\s+/g, ' ')
    const diagnostic = `${reply.code} ${replied}`
    const facts = { status: reply.enhanced ?? null, smtpCode: reply.code, diagnostic, remoteMta: last?.host ?? null, recipient: address }
    if ((last?.provider ?? 'smtp') === 'smtp') return { ...refused(address, facts, isExpired), ...at }
    // an HTTP status is not an SMTP reply code
    const status = facts.status ?? (isExpired ? '4.0.0' : '5.0.0')
    const failed = refused(address, { ...facts, status, smtpCode: null, diagnostic: replied }, isExpired)
    return { ...failed, ...at, diagnostic: { type: 'x-http', text: diagnostic } }
  }
  return { address, status: '5.4.7', reason: last?.error?.message ?? texts().notInTime, nextStep: texts().nextSteps.receiver, ...at }
}

function refused(address: string, facts: RefusalFacts, isExpired: boolean): FailedRecipient {
  const { reason, fault } = classify(facts)
  const { status, smtpCode, diagnostic, remoteMta } = facts
  const kind = smtpCode !== null && smtpCode < 500 && smtpCode >= 400 ? '4' : '5'
  return {
    ...{
      address,
      reason: isExpired ? `${texts().notInTime} ${reason}` : reason,
      nextStep: texts().nextSteps[fault],
      remoteMta: remoteMta ?? undefined,
    },
    status: status ?? `${kind}.0.0`,
    diagnostic: diagnostic === null ? undefined : { type: 'smtp', text: diagnostic },
  }
}

function suppressed(address: string, { source, reason }: NonNullable<TraceRecipient['suppression']>): FailedRecipient {
  if (source === 'unsubscribe')
    return {
      address,
      status: '5.7.1',
      reason: texts().unsubscribed,
      nextStep: texts().unsubscribedNext,
    }
  return {
    ...{ address, status: '5.7.1' },
    reason: texts().suppressed({ reason: reason ?? 'none' }),
    nextStep: texts().suppressedNext,
  }
}
