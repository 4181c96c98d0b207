/** Writes the reports of one message: reports, states, suppressions and webhook events in one write, with what the caller adds. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { countFate } from '../../insights/count.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { maxRawReportBytes, rawReportKey, keptUnder } from '../../trace/story/raw-report.ts'
import { reportId, reportTypes, traceReports, type ReportType, type TraceReport } from '../../trace/trace-report.ts'
import { withNotice } from '../../trace/notices/due-notices.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { announce } from '../../webhooks/events/announce.ts'
import type { Attribution } from './attribution.ts'
import { isVerified, maySuppress } from './trust.ts'
import { bounceFactsOf } from './attempt-bounces.ts'
import { countBounce, countComplaint, tellBounce } from '../suppression/counts.ts'
import { settleSuppressions, type ReportUpdate } from '../suppression/consequences.ts'
import { afterReport, reportOf } from './report-effect.ts'
import type { BounceClass, FeedbackEvent } from '../event.ts'
import { isBetterEvidence, isStrongerEvidence, saysOtherwise } from './evidence.ts'
import type { FeedbackOrigin } from '../feedback-origin.ts'
import { transact } from '../../writes/transact.ts'

export interface Matched {
  readonly event: FeedbackEvent
  readonly attribution: Attribution
}

export interface Applied {
  readonly result: 'recorded' | 'duplicate' | 'ignored'
  readonly bounce: BounceClass | null
  readonly isUnverified: boolean
  readonly suppressed: boolean
}

/** One answer for each event, in order; undefined when the trace is gone, and nothing was written. */
export async function applyToTrace(
  options: Core,
  origin: FeedbackOrigin,
  matched: readonly [Matched, ...Matched[]],
  nowMs: number,
  also: ((change: Change) => void) | undefined,
): Promise<readonly Applied[] | undefined> {
  const { database, policies } = options
  const [{ attribution }] = matched
  const { organizationId, traceId } = attribution
  return transact(database, { organizationId }, async (change) => {
    const policy = await policies.of(organizationId)
    const stored = await database.get(traces, { organizationId }, traceId) // checked by the work, where something comes of it
    if (!stored || !policy.projects.has(stored.record.projectId)) return undefined
    const work = new TraceUpdate(database, policy, organizationId, stored, origin, nowMs)
    const answers: (ReportUpdate | 'duplicate' | 'ignored')[] = []
    for (const one of matched) answers.push(await work.take(one))
    await work.settle(change)
    also?.(change)
    return answers.map(toApplied)
  })
}

const toApplied = (answer: ReportUpdate | 'duplicate' | 'ignored'): Applied =>
  typeof answer === 'string'
    ? { result: answer, bounce: null, isUnverified: false, suppressed: false }
    : { result: 'recorded', bounce: answer.report.bounce, isUnverified: answer.report.isUnverified, suppressed: answer.suppressed }

/** Where reports of one kind about one recipient meet. */
interface Slot {
  readonly stored: Stored<TraceReport> | undefined
  update: ReportUpdate | undefined
  /** The stored report is about a copy of before the last replay, so that the new report is no better evidence of the same. */
  isOfEarlierCopy: boolean
}

/** So often evidence of the same strength replaces what stands; somebody who has a token could send ever better mails. */
const maxRevisions = 10

class TraceUpdate {
  readonly #database: Database
  readonly #policy: Policy
  readonly #organizationId: string
  readonly #stored: Stored<Trace>
  readonly #origin: FeedbackOrigin
  readonly #nowMs: number
  readonly #slots = new Map<string, Slot>()
  /** The id under which the mail is kept, once a report refers to it. */
  #rawId: string | undefined
  #trace: Trace

  constructor(database: Database, policy: Policy, organizationId: string, stored: Stored<Trace>, origin: FeedbackOrigin, nowMs: number) {
    this.#database = database
    this.#policy = policy
    this.#organizationId = organizationId
    this.#stored = stored
    this.#trace = stored.record
    this.#origin = origin
    this.#nowMs = nowMs
  }

  async take({ event, attribution }: Matched): Promise<ReportUpdate | 'duplicate' | 'ignored'> {
    if (!isReport(event) || !isSwitchedOn(this.#policy.organization, 'bounce_sources')) return 'ignored'
    const isUnverified = !isVerified(this.#origin, event, attribution)
    const { sourceId, raw } = this.#origin
    const rawBytes = Math.min(raw?.length ?? 0, maxRawReportBytes)
    const may = maySuppress(this.#origin, event, attribution)
    const report = reportOf({ event, attribution, isUnverified, maySuppress: may, sourceId, rawBytes }, this.#nowMs)
    if (isUnverified && standing(await this.#slot({ ...report, isUnverified: false }))) return 'duplicate'
    const slot = await this.#slot(report)
    const side = sideOfReplay(this.#trace, slot, event, this.#nowMs)
    if (side === 'before') return 'duplicate'
    if (side === 'after') slot.isOfEarlierCopy = true
    const before = side === 'after' ? undefined : standing(slot)
    const isLater = isOfLaterCopy(event, this.#trace, this.#nowMs)
    if (before && !mayReplace(report, before)) {
      if (isLater) this.#trace = afterReport(this.#trace, before, this.#nowMs)
      return 'duplicate'
    }
    const update = { report: this.#withMail(before ? revised(before, report) : report), suppressed: false }
    this.#trace = afterReport(this.#trace, update.report, this.#nowMs, before === undefined || isLater)
    slot.update = update
    return update
  }

  async #slot({ traceId, recipient, type, isUnverified }: TraceReport): Promise<Slot> {
    const id = reportId(traceId, recipient, type, isUnverified)
    const known = this.#slots.get(id)
    if (known) return known
    const stored = await this.#database.get(traceReports, { organizationId: this.#organizationId }, id)
    const slot: Slot = { stored, update: undefined, isOfEarlierCopy: false }
    this.#slots.set(id, slot)
    return slot
  }

  /** A mail that reports several recipients is kept once. */
  #withMail(report: TraceReport): TraceReport {
    if (report.rawBytes === 0) return report
    this.#rawId ??= keptUnder(report)
    return { ...report, rawOf: this.#rawId === report.id ? undefined : this.#rawId }
  }

  /** The write; empty when nothing is new. */
  async settle(change: Change): Promise<void> {
    const slots = [...this.#slots.values()].filter(isFilled).map((slot) => ({ ...slot, replaced: replacedBy(slot) }))
    const { record } = this.#stored
    if (slots.length === 0 && this.#trace === record) return
    const { organization } = this.#policy
    const settling = { database: this.#database, organizationId: this.#organizationId, organization, nowMs: this.#nowMs }
    await settleSuppressions(change, settling, slots)
    if (this.#trace === record)
      change.checkRecord(traces, this.#organizationId, this.#stored) // so that nothing outlives its trace
    else {
      this.#trace = withNotice(change, this.#organizationId, record, this.#trace, this.#nowMs)
      change.rewrite(traces, this.#organizationId, this.#stored, this.#trace)
    }
    const { raw } = this.#origin
    if (raw && this.#rawId !== undefined) change.set(rawReportKey(this.#organizationId, this.#rawId), raw.subarray(0, maxRawReportBytes))
    for (const { stored, replaced, update } of slots) {
      const report = { ...update.report, eventId: this.#announce(change, update, replaced) }
      if (stored && !replaced) change.replace(traceReports, this.#organizationId, stored, report)
      else if (stored) change.rewrite(traceReports, this.#organizationId, stored, report)
      else {
        change.insert(traceReports, this.#organizationId, report)
        countReport(change, report)
        this.#count(change, report)
      }
    }
  }

  #count(change: Change, { type, recipient, isUnverified }: TraceReport): void {
    if (isUnverified || type === 'deferred' || type === 'bounce_unparsed') return
    const { projectId, destinationId } = this.#trace
    countFate(change, { organizationId: this.#organizationId, projectId, destinationId }, type, recipient, this.#nowMs)
  }

  /** Returns the id of the last event for the report, if there was one. */
  #announce(change: Change, { report, suppressed }: ReportUpdate, before: TraceReport | undefined): string | undefined {
    const { type, recipient, reason, at, occurredAt, isUnverified, feedbackType, suppression } = report
    const earlier = before?.eventId
    if (isUnverified || recipient === null || type === 'deferred' || type === 'bounce_unparsed') return earlier
    const event = { organizationId: this.#organizationId, trace: this.#trace, recipient, reason, at: before ? this.#nowMs : at, occurredAt }
    const cause = {
      bounce: bounceFactsOf(report),
      ...(type === 'complained' && { complaint: { feedbackType } }),
    }
    const isAnnounced = before !== undefined && !saysOtherwise(report, before)
    const announced = isAnnounced
      ? earlier
      : announce(this.#database, change, this.#policy.webhooks, { ...event, ...cause, type, corrects: earlier })
    if (suppressed && suppression) {
      const entry = { ...suppression, expiresAt: null }
      announce(this.#database, change, this.#policy.webhooks, {
        ...event,
        ...cause,
        type: 'auto_suppressed',
        reason: suppression.reason,
        suppression: entry,
      })
    }
    return announced ?? earlier
  }
}

/** Once for a recipient and kind, whatever better evidence follows; what is unverified is not counted. */
function countReport(change: Change, report: TraceReport): void {
  const { id, type, bounce, isUnverified } = report
  if (isUnverified) return
  if (type === 'bounced') tellBounce(countBounce(change, id, bounce), report)
  else if (type === 'complained') countComplaint(change, id)
}

type FilledSlot = Slot & { readonly update: ReportUpdate }

const isFilled = (slot: Slot): slot is FilledSlot => slot.update !== undefined

/** The worse evidence of the same fate. */
const replacedBy = ({ stored, isOfEarlierCopy }: Slot): TraceReport | undefined => (isOfEarlierCopy ? undefined : stored?.record)

/** Stronger evidence replaces what stands in any case, as there are few strengths; what is only worded otherwise, so often. */
const mayReplace = (report: TraceReport, before: TraceReport): boolean =>
  isStrongerEvidence(report, before) || ((before.revisions ?? 0) < maxRevisions && isBetterEvidence(report, before))

/**
 * A replay sends another copy with a fate of its own: a report about it is no better evidence about the copy before. `before` and
 * `after` when the last replay lies between the report and the one that stands there.
 */
function sideOfReplay({ replays }: Trace, slot: Slot, { occurredAt }: FeedbackEvent, nowMs: number): 'before' | 'after' | undefined {
  const known = standing(slot)
  const replayedAt = replays?.at(-1)?.at
  if (!known || replayedAt === undefined) return undefined
  const then = (known.occurredAt ?? known.at) >= replayedAt
  // a copy that was refused while we sent it never left, so no report can be about it
  const now = (occurredAt ?? nowMs) >= replayedAt || (known.proof === 'attempt' && !then)
  return then === now ? undefined : now ? 'after' : 'before'
}

const standing = ({ stored, update }: Slot): TraceReport | undefined => update?.report ?? stored?.record

/** Better evidence in place of the report there: it came when the first of its kind came, and its consequences are still to be settled. */
const revised = ({ at, suppression, eventId, revisions = 0 }: TraceReport, better: TraceReport): TraceReport => ({
  ...better,
  ...{ at, suppression, eventId, revisions: revisions + 1 },
})

/**
 * A message whose first copy may have arrived is sent again, and both copies can bounce: the first bounce, reported while the
 * recipient still waited, changed no state, so the second one does. What happened before the last change belongs to the first copy.
 */
const isOfLaterCopy = ({ type, occurredAt }: FeedbackEvent, trace: Trace, nowMs: number): boolean =>
  type !== 'deferred' && (occurredAt ?? nowMs) >= trace.updatedAt

const isReport = (event: FeedbackEvent): event is FeedbackEvent & { readonly type: ReportType } =>
  (reportTypes as readonly string[]).includes(event.type)
