/**
 * Bounces of recipients that a server refused permanently during an attempt, or deferred until the retries ended. Such a bounce has a class
 * and is part of the trace. A permanent refusal suppresses like a reported bounce. The state stays `failed`, because the message never
 * left.
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

/** The fields of an attempt that decide about bounces. */
export interface AttemptSeen {
  readonly provider?: string | undefined
  readonly host?: string | undefined
  readonly recipients?: readonly RecipientReport[] | undefined
  readonly error?: AttemptError | undefined
}

/**
 * Returns the bounces of an attempt: SMTP replies to recipients that failed in it. Excludes refusals of the sender, answers of provider
 * APIs, recipients without a RCPT command, and faults of the whole connection. Pure.
 */
export function bouncesIn(before: Trace, after: Trace, attempt: AttemptSeen, nowMs: number): readonly TraceReport[] {
  const { recipients = [], host, provider = 'smtp', error } = attempt
  if (provider !== 'smtp' || recipients.every(({ verdict }) => verdict === 'accepted')) return []
  const waiting = new Set(before.recipients.flatMap(({ address, status }) => (status === 'queued' ? [address] : [])))
  const failed = new Set(after.recipients.flatMap(({ address, status }) => (status === 'failed' && waiting.has(address) ? [address] : [])))
  // one reply to the content does not identify one of several recipients
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
  const replied = text.replaceAll(/\s+/g, ' ')
  const facts = {
    status: enhanced ?? null,
    smtpCode: code,
    diagnostic: `${code} ${enhanced === undefined || replied.startsWith(enhanced) ? '' : `${enhanced} `}${replied}`.slice(0, 2000),
    remoteMta: host ?? null,
    recipient,
  }
  const { bounce, category, reason } = classify(facts) // never hard for a 4xx reply
  return {
    ...facts,
    ...{ id: reportId(traceId, recipient, 'bounced', false), traceId, projectId, type: 'bounced', at: nowMs, occurredAt: nowMs },
    ...{ finalRecipient: null, format: 'smtp', sourceId: null, proof: 'attempt', isUnverified: false, bounce, category, reason },
    ...{ action: 'failed', reportingMta: null, feedbackType: null, suppression: null, rawBytes: 0, isStructured: true },
    maySuppress,
  }
}

/** Returns the trace with its bounces, or the same trace if there are none. Pure. */
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

/** Adds the bounces, their suppressions and their webhook events to the write that ends the attempt. */
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
    // a stored bounce is about an earlier copy, so this bounce neither replaces its evidence nor inherits its consequences
    slots.push({ stored, replaced: undefined, update: { report, suppressed: false } })
  }
  await settleSuppressions(change, settling, slots)
  for (const { stored, update } of slots) {
    const { report, suppressed } = update
    if (stored) change.replace(traceReports, organizationId, stored, { ...report, ...keptOf(stored.record) })
    else {
      countBounce(change.insert(traceReports, organizationId, report), report.id, report.bounce)
      countFate(change, { organizationId, ...trace }, 'bounced', report.recipient, { at: nowMs, levels: [] })
    }
    const { suppression, recipient } = report
    if (!suppressed || !suppression || recipient === null) continue
    const entry = { ...suppression, expiresAt: null }
    const event = { organizationId, trace, recipient, reason: suppression.reason, at: nowMs, bounce: bounceFactsOf(report) }
    announce(database, change, webhooks, { ...event, type: 'auto_suppressed', suppression: entry })
  }
}

/** Returns the fields kept from the bounce of an earlier round of attempts. Its mails are removed together with the trace. */
const keptOf = ({ revisions, rawBytes, suppression }: TraceReport): Partial<TraceReport> => ({
  ...((revisions !== undefined || rawBytes > 0) && { revisions: (revisions ?? 0) + 1 }),
  ...(suppression && { suppression }),
})

/** Fields of a bounce as in webhook events. */
export const bounceFactsOf = ({ bounce, category, status, smtpCode, diagnostic, remoteMta }: TraceReport) =>
  bounce === null ? undefined : { class: bounce, category, status, smtpCode, diagnostic, remoteMta }

/** Bounce fields by recipient, for the failure events. */
export const bounceFacts = (bounces: readonly TraceReport[]): ReadonlyMap<string, ReturnType<typeof bounceFactsOf>> =>
  new Map(bounces.map((report) => [report.recipient ?? '', bounceFactsOf(report)]))
