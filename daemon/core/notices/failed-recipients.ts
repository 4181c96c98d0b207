/** What a notice says of each recipient that a message did not reach: the reply verbatim, why in plain words, and the next step. */
import { classify, type Fault, type RefusalFacts } from '../feedback/apply/classify.ts'
import type { FailedRecipient } from '../submission/compose/notice-message.ts'
import type { AttemptRecord } from '../trace/attempt-record.ts'
import type { TraceReport } from '../trace/trace-report.ts'
import type { TraceRecipient } from '../trace/trace.ts'

const nextSteps: Readonly<Record<Fault, string>> = {
  address: 'Check the address for typing mistakes, or ask the recipient for another one. Then send the message again.',
  sender: 'Forward this notice to the administrator of your mail service.',
  reputation: 'Forward this notice to the administrator of your mail service.',
  content: 'Change the message or its attachments, then send it again.',
  receiver: 'Send the message again later, or contact the recipient another way.',
  unclear: 'Send the message again later, or contact the recipient another way.',
}

/** `reports` are those of the trace, `attempts` all attempts in order. */
export function failedRecipient(
  recipient: TraceRecipient,
  reports: readonly TraceReport[],
  attempts: readonly AttemptRecord[],
): FailedRecipient {
  const { address, suppression, reply } = recipient
  if (suppression) return suppressed(address, suppression)
  const last = attempts.findLast(({ recipients }) => recipients?.some((one) => one.address === address)) ?? attempts.at(-1)
  const at = { attemptedAt: last?.endedAt ?? last?.startedAt }
  const bounced = reports.find((one) => one.type === 'bounced' && one.recipient === address && !one.isUnverified)
  if (bounced) return { ...refused(address, bounced, 'smtp'), ...at, attemptedAt: bounced.occurredAt ?? bounced.at }
  if (reply) {
    const diagnostic = `${reply.code} ${reply.text.replaceAll(/\s+/g, ' ')}`
    const facts = { status: reply.enhanced ?? null, smtpCode: reply.code, diagnostic, remoteMta: last?.host ?? null, recipient: address }
    return { ...refused(address, facts, (last?.provider ?? 'smtp') === 'smtp' ? 'smtp' : 'x-http'), ...at }
  }
  const reason = last?.error?.message ?? 'No server accepted the message in time.'
  return { address, status: '5.4.7', reason, nextStep: nextSteps.receiver, ...at }
}

function refused(address: string, facts: RefusalFacts, type: 'smtp' | 'x-http'): FailedRecipient {
  const { reason, fault } = classify(facts)
  const { status, smtpCode, diagnostic, remoteMta } = facts
  const kind = smtpCode !== null && smtpCode < 500 && smtpCode >= 400 && type === 'smtp' ? '4' : '5'
  return {
    ...{ address, reason, nextStep: nextSteps[fault], remoteMta: remoteMta ?? undefined },
    status: status ?? `${kind}.0.0`,
    diagnostic: diagnostic === null ? undefined : { type, text: diagnostic },
  }
}

function suppressed(address: string, { source, reason }: NonNullable<TraceRecipient['suppression']>): FailedRecipient {
  if (source === 'unsubscribe')
    return {
      address,
      status: '5.7.1',
      reason: 'The recipient unsubscribed from this mail.',
      nextStep: 'Contact the recipient another way.',
    }
  return {
    ...{ address, status: '5.7.1' },
    reason: `The address is on the suppression list of this service${reason === null ? '.' : `: ${reason}`}`,
    nextStep: 'Ask the administrator of your mail service to remove the entry, then send the message again.',
  }
}
