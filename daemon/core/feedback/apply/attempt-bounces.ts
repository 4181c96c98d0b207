/**
 * Recipients that a server refused for good while we handed the message over, or put off until we gave up. For people that is a
 * bounce: it has a class, stands in the trace as one, and a refusal for good suppresses like one; the state stays `failed`, as the
 * message never left.
 */
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import type { AttemptError, PeerReply, RecipientReport } from '../../trace/attempt-record.ts'
import { reportId, traceReports, type TraceReport } from '../../trace/trace-report.ts'
import type { Trace } from '../../trace/trace.ts'
import { announce } from '../../webhooks/events/announce.ts'
import type { WebhookEndpoints } from '../../webhooks/endpoint.ts'
import { classify } from './classify.ts'
import { countFate } from '../../insights/count.ts'
import { countBounce } from '../suppression/counts.ts'
import { settleSuppressions, type ReportUpdate, type Settling } from '../suppression/consequences.ts'

/** As much of an attempt as is looked at. */
export interface AttemptSeen {
  readonly provider?: string | undefined
  readonly host?: string | undefined
  readonly recipients?: readonly RecipientReport[] | undefined
  readonly error?: AttemptError | undefined
}

/**
 * The bounces of an attempt: replies of SMTP servers to recipients that have failed with it. Not refusals of the sender, answers of
 * providers with an API, recipients that no server was asked for, and faults of the whole connection. Pure.
 */
export function bouncesIn(before: Trace, after: Trace, attempt: AttemptSeen, nowMs: number): readonly TraceReport[] {
  const { recipients = [], host, provider = 'smtp', error } = attempt
  if (provider !== 'smtp' || recipients.every(({ verdict }) => verdict === 'accepted')) return []
  const waiting = new Set(before.recipients.flatMap(({ address, status }) => (status === 'queued' ? [address] : [])))
  const failed = new Set(after.recipients.flatMap(({ address, status }) => (status === 'failed' && waiting.has(address) ? [address] : [])))
  // one reply to the content does not say which of several recipients it is about
  const isShared = recipients.filter(({ ofMessage }) => ofMessage).length > 1
  return recipients.flatMap(({ address, verdict, reply, ofSender, ofMessage, isUnasked }) => {
    if (!failed.has(address) || !reply || ofSender || isUnasked) return []
    if (verdict !== 'permanent' && (verdict !== 'transient' || error)) return []
    const isFinal = verdict === 'permanent'
    return [reportOf(after, address, reply, { host, maySuppress: isFinal && !(ofMessage && isShared) }, nowMs)]
  })
}

function reportOf(
  { id: traceId, projectId }: Trace,
  recipient: string,
  { code, enhanced, text }: PeerReply,
  { host, maySuppress }: { readonly host: string | undefined; readonly maySuppress: boolean },
  nowMs: number,
): TraceReport {
  const words = text.replaceAll(/\s+/g, ' ')
  const facts = {
    status: enhanced ?? null,
    smtpCode: code,
    diagnostic: `${code} ${enhanced === undefined || words.startsWith(enhanced) ? '' : `${enhanced} `}${words}`.slice(0, 2000),
    remoteMta: host ?? null,
    recipient,
  }
  const { bounce, category, reason } = classify(facts) // never hard for a reply of 4xx
  return {
    ...facts,
    ...{ id: reportId(traceId, recipient, 'bounced', false), traceId, projectId, type: 'bounced', at: nowMs, occurredAt: nowMs },
    ...{ finalRecipient: null, format: 'smtp', sourceId: null, proof: 'attempt', isUnverified: false, bounce, category, reason },
    ...{ action: 'failed', reportingMta: null, feedbackType: null, suppression: null, rawBytes: 0, isStructured: true },
    maySuppress,
  }
}

/** The trace with its bounces; the same trace without any. Pure. */
export function withBounces(trace: Trace, bounces: readonly TraceReport[]): Trace {
  if (bounces.length === 0) return trace
  const byAddress = new Map(bounces.map((report) => [report.recipient, report]))
  const recipients = trace.recipients.map((recipient) => {
    const bounced = byAddress.get(recipient.address)
    if (!bounced) return recipient
    const { type, at, reason, bounce } = bounced
    return { ...recipient, report: { type, at, reason, bounce }, bounce }
  })
  return { ...trace, recipients }
}

/** Adds the bounces, what follows from them for the suppression list, and its webhook events, to the write that ends the attempt. */
export async function stageBounces(
  change: Change,
  settling: Settling & { readonly webhooks: WebhookEndpoints },
  trace: Trace,
  bounces: readonly TraceReport[],
): Promise<void> {
  if (bounces.length === 0) return
  const { database, organizationId, webhooks, nowMs } = settling
  const slots: { readonly stored: Stored<TraceReport> | undefined; readonly replaced: undefined; readonly update: ReportUpdate }[] = []
  for (const report of bounces) {
    const stored = await database.get(traceReports, { organizationId }, report.id)
    // a bounce that stands there is of an earlier copy: this one is no better evidence of it, and means what it means by itself
    slots.push({ stored, replaced: undefined, update: { report, suppressed: false } })
  }
  await settleSuppressions(change, settling, slots)
  for (const { stored, update } of slots) {
    const { report, suppressed } = update
    if (stored) change.replace(traceReports, organizationId, stored, { ...report, ...keptOf(stored.record) })
    else {
      countBounce(change.insert(traceReports, organizationId, report), report.id, report.bounce)
      countFate(change, { organizationId, ...trace }, 'bounced', report.recipient, nowMs)
    }
    const { suppression, recipient } = report
    if (!suppressed || !suppression || recipient === null) continue
    const entry = { ...suppression, expiresAt: null }
    const event = { organizationId, trace, recipient, reason: suppression.reason, at: nowMs, bounce: bounceFactsOf(report) }
    announce(database, change, webhooks, { ...event, type: 'auto_suppressed', suppression: entry })
  }
}

/** A bounce of an earlier round of attempts gives way; the mails that it came as go with the trace. */
const keptOf = ({ revisions, rawBytes, suppression }: TraceReport): Partial<TraceReport> => ({
  ...((revisions !== undefined || rawBytes > 0) && { revisions: (revisions ?? 0) + 1 }),
  ...(suppression && { suppression }),
})

/** As events report it. */
export const bounceFactsOf = ({ bounce, category, status, smtpCode, diagnostic, remoteMta }: TraceReport) =>
  bounce === null ? undefined : { class: bounce, category, status, smtpCode, diagnostic, remoteMta }

/** By recipient, for the events of the failures. */
export const bounceFacts = (bounces: readonly TraceReport[]): ReadonlyMap<string, ReturnType<typeof bounceFactsOf>> =>
  new Map(bounces.map((report) => [report.recipient ?? '', bounceFactsOf(report)]))
