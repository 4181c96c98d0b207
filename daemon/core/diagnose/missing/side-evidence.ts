/** Hypotheses beyond a single message: nothing sent, a suppression, a budget, the domain, or the spam folder. Pure. */
import type { RecordCheck } from '../../domains/sending-domain.ts'
import type { Project } from '../../tenancy/organization.ts'
import type { TraceReport } from '../../trace/trace-report.ts'
import type { Trace } from '../../trace/trace.ts'
import { askForRemoval } from './message-fate.ts'
import type { MissingContext } from './missing-context.ts'
import type { Hypothesis, MissingDiagnosis } from '../search/diagnosis.ts'
import type { NearMiss } from './near-misses.ts'
import { domainOf } from '../search/related-refusals.ts'
import { textOf } from '../search/time-window.ts'

/** No message to the recipient exists in the window. */
export function nothingSent({ address, window, principal }: MissingContext, isAlone: boolean, before: Trace | undefined): Hypothesis {
  const place = principal.bound ? 'by this project ' : ''
  const last = before ? ` The last message before that was accepted at ${textOf(before.createdAt)}.` : ''
  return {
    ...{ id: 'not_sent', verdict: 'not_sent', confidence: isAlone ? 0.85 : 0.45 },
    explanation: `No message to ${address} was accepted ${place}between ${textOf(window.from)} and ${textOf(window.to)}.${last}`,
    evidence: before
      ? [
          {
            kind: 'trace',
            traceId: before.id,
            at: before.createdAt,
            detail: `The last message to ${address}, with the status ${before.status}.`,
          },
        ]
      : [],
    nextAction: {
      text: 'Check the response that your application received when it sent: a refused request has no trace. Then send again.',
    },
  }
}

const nearConfidence = [0.8, 0.7, 0.5] as const

export function fromNearMiss({ address }: MissingContext, { address: near, trace, mistakes }: NearMiss): Hypothesis {
  const how = mistakes === 0 ? 'which differs only by its plus tag' : 'which looks like a typing error'
  return {
    ...{ id: 'near_miss', verdict: 'not_sent', confidence: nearConfidence[mistakes] ?? 0.5 },
    explanation: `No message was sent to ${address}, but one was sent to ${near}, ${how}.`,
    evidence: [
      { kind: 'near_miss', traceId: trace.id, at: trace.createdAt, detail: `A message to ${near}, with the status ${trace.status}.` },
    ],
    nextAction: {
      text: `Compare the two addresses; correct the one in your records, and send again. To see the mail sent to ${near}, repeat the request with that address.`,
      tool: 'email_diagnose_missing',
      arguments: { recipient: near },
    },
  }
}

/** A suppression prevents any mail to the recipient. */
export function fromSuppression({ entry, isEntryOutside }: MissingContext): Hypothesis[] {
  if (isEntryOutside)
    return [
      {
        ...{ id: 'would_be_suppressed', verdict: 'suppressed', confidence: 0.6 },
        explanation: 'The recipient is suppressed by an entry outside this project, so no mail is sent.',
        evidence: [],
        nextAction: askForRemoval,
      },
    ]
  if (!entry) return []
  const why = entry.reason === null ? '' : `: ${entry.reason}`
  return [
    {
      ...{ id: 'would_be_suppressed', verdict: 'suppressed', confidence: 0.6 },
      explanation: `The recipient has been suppressed since ${textOf(entry.createdAt)} (${entry.source}${why}), so no mail is sent.`,
      evidence: [{ kind: 'suppression', at: entry.createdAt, detail: `The suppression ${entry.id}.` }],
      nextAction: {
        text: `If the recipient wants the mail and the address is correct, remove the suppression ${entry.id}, and send again.`,
        tool: 'email_suppression_remove',
        arguments: { id: entry.id },
      },
    },
  ]
}

export function fromBudget({ id, name, sendBudget }: Project, sends: number): Hypothesis[] {
  if (sendBudget === null || sends < sendBudget) return []
  return [
    {
      ...{ id: 'budget_used_up', verdict: 'not_sent', confidence: 0.6 },
      explanation: `The project ${name} has used its budget of ${sendBudget} sends for today, so further sends are refused.`,
      evidence: [{ kind: 'usage', detail: `${sends} sends today in the project ${id}.` }],
      nextAction: { text: 'Raise the send budget of the project, or wait for the next day (UTC).' },
    },
  ]
}

/** The recipient's domain does not accept mail. */
export function fromDomain({ domain, address }: MissingContext, confidence: number): Hypothesis[] {
  if (domain.state !== 'null_mx' && domain.state !== 'no_server') return []
  return [
    {
      ...{ id: 'domain_takes_no_mail', verdict: 'unknown', confidence, explanation: domain.detail },
      evidence: [{ kind: 'dns', detail: domain.detail }],
      nextAction: { text: `Check the spelling of ${domainOf(address)}; it cannot receive mail.` },
    },
  ]
}

/** Reasons why an accepted message may be in the spam folder. */
export function afterAcceptance(
  { policy, address }: MissingContext,
  latest: Trace | undefined,
  reports: readonly TraceReport[],
): Pick<MissingDiagnosis, 'hypotheses' | 'checked' | 'notChecked'> {
  const sender = domainOf(latest?.headerFrom ?? '')
  const check = policy.sendingDomains.get(sender)?.check
  const wrong = check?.records.filter(({ verdict }) => verdict === 'missing' || verdict === 'mismatch') ?? []
  const complaints = reports.filter(({ type }) => type === 'complained').length
  return {
    hypotheses: [
      ...(check && wrong.length > 0 ? [unproven(sender, check.at, wrong)] : []),
      ...(complaints > 0 ? [disliked(address, complaints)] : []),
    ],
    checked: [
      `Complaints from ${domainOf(address)} in the last 30 days: ${complaints}.`,
      ...(check ? [`SPF, DKIM and DMARC of ${sender} as of ${textOf(check.at)}.`] : []),
    ],
    notChecked: [
      ...(check
        ? []
        : [{ what: `SPF, DKIM and DMARC of ${sender}`, why: 'The domain is not added under /v1/domains, or was never verified.' }]),
      { what: 'Blocklists', why: 'The IP address that the destination sends from is not known.' },
      { what: 'Filters and forwarding of the recipient', why: 'Only the log of the receiving server shows them.' },
    ],
  }
}

const unproven = (sender: string, at: number, wrong: readonly RecordCheck[]): Hypothesis => ({
  ...{ id: 'sender_unproven', verdict: 'accepted_by_remote', confidence: 0.4 },
  explanation: `Receivers cannot authenticate mail of ${sender}: ${wrong.map(({ purpose }) => purpose).join(', ')} did not pass the last check. Such mail often goes to the spam folder.`,
  evidence: wrong.map(({ name, hint }) => ({ kind: 'domain_check', at, detail: `${name}: ${hint}` })),
  nextAction: {
    text: `Publish the records of ${sender}, then verify it.`,
    tool: 'email_domain_verify_records',
    arguments: { domain: sender },
  },
})

const disliked = (address: string, complaints: number): Hypothesis => ({
  ...{ id: 'complaints', verdict: 'accepted_by_remote', confidence: 0.3 },
  explanation: `Recipients at ${domainOf(address)} reported ${complaints} of your messages as spam in the last 30 days, which leads to the spam folder.`,
  evidence: [],
  nextAction: { text: 'Send only to recipients who asked for it, and offer one-click unsubscribe.' },
})
