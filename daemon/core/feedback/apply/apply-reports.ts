/**
 * Writes the reports about one message. One write contains the reports, states, suppressions, webhook events and the caller's additions.
 */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { countFate } from '../../insights/count.ts'
import { countTimeOf } from '../../insights/past.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { maxRawReportBytes, rawReportKey, keptUnder } from '../../trace/timeline/raw-report.ts'
import { reportId, reportTypes, traceReports, type ReportType, type TraceReport } from '../../trace/trace-report.ts'
import { withNotice } from '../../trace/notices/due-notices.ts'
import { endOfAttempt } from '../../trace/attempts.ts'
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

/** Returns one result per event, in order. Returns undefined, and writes nothing, if the trace no longer exists. */
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
    const stored = await database.get(traces, { organizationId }, traceId) // checked by the work if it writes
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

/** The stored and the new report of one kind about one recipient. */
interface Slot {
  readonly stored: Stored<TraceReport> | undefined
  update: ReportUpdate | undefined
  /** The stored report is about a copy older than the last replay, so the new report does not replace its evidence. */
  isOfEarlierCopy: boolean
}

/** Maximum number of replacements by evidence of equal strength. Without a limit, the holder of a token could send ever better mails. */
const maxRevisions = 10

class TraceUpdate {
  readonly #database: Database
  readonly #policy: Policy
  readonly #organizationId: string
  readonly #stored: Stored<Trace>
  readonly #origin: FeedbackOrigin
  readonly #nowMs: number
  readonly #slots = new Map<string, Slot>()
  /** Storage id of the reporting mail; undefined until a report refers to it. */
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

  /** Stores a mail that reports several recipients only once. */
  #withMail(report: TraceReport): TraceReport {
    if (report.rawBytes === 0) return report
    this.#rawId ??= keptUnder(report)
    return { ...report, rawOf: this.#rawId === report.id ? undefined : this.#rawId }
  }

  /** Adds the changes to the write. Adds nothing if there is nothing new. */
  async settle(change: Change): Promise<void> {
    const slots = [...this.#slots.values()].filter(isFilled).map((slot) => ({ ...slot, replaced: replacedBy(slot) }))
    const { record } = this.#stored
    if (slots.length === 0 && this.#trace === record) return
    const { organization } = this.#policy
    const settling = { database: this.#database, organizationId: this.#organizationId, organization, nowMs: this.#nowMs }
    await settleSuppressions(change, settling, slots)
    if (this.#trace === record)
      change.checkRecord(traces, this.#organizationId, this.#stored) // so that no report outlives its trace
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
        await this.#count(change, report)
      }
    }
  }

  async #count(change: Change, { type, recipient, isUnverified }: TraceReport): Promise<void> {
    if (isUnverified || type === 'deferred' || type === 'bounce_unparsed') return
    const { projectId, destinationId } = this.#trace
    const organizationId = this.#organizationId
    const at = (await endOfAttempt(this.#database, organizationId, this.#trace, recipient)) ?? this.#nowMs
    const time = await countTimeOf(this.#database, change, at, this.#nowMs)
    countFate(change, { organizationId, projectId, destinationId }, type, recipient, time)
  }

  /** Returns the id of the last event for the report, if there is one. */
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

/** Counts a verified report once per recipient and kind; better evidence is not counted again. */
function countReport(change: Change, report: TraceReport): void {
  const { id, type, bounce, isUnverified } = report
  if (isUnverified) return
  if (type === 'bounced') tellBounce(countBounce(change, id, bounce), report)
  else if (type === 'complained') countComplaint(change, id)
}

type FilledSlot = Slot & { readonly update: ReportUpdate }

const isFilled = (slot: Slot): slot is FilledSlot => slot.update !== undefined

/** Returns the weaker report that the new report replaces. */
const replacedBy = ({ stored, isOfEarlierCopy }: Slot): TraceReport | undefined => (isOfEarlierCopy ? undefined : stored?.record)

/** Stronger evidence always replaces, because there are few strengths. Evidence that differs only in words replaces up to the limit. */
const mayReplace = (report: TraceReport, before: TraceReport): boolean =>
  isStrongerEvidence(report, before) || ((before.revisions ?? 0) < maxRevisions && isBetterEvidence(report, before))

/**
 * Compares the times of the stored and the new report with the last replay. A replay sends another copy with its own outcome, so its report
 * is no better evidence about the earlier copy. Returns `before` or `after` if the last replay is between both reports.
 */
function sideOfReplay({ replays }: Trace, slot: Slot, { occurredAt }: FeedbackEvent, nowMs: number): 'before' | 'after' | undefined {
  const known = standing(slot)
  const replayedAt = replays?.at(-1)?.at
  if (!known || replayedAt === undefined) return undefined
  const then = (known.occurredAt ?? known.at) >= replayedAt
  // a copy refused during our attempt never left, so no report can be about it
  const now = (occurredAt ?? nowMs) >= replayedAt || (known.proof === 'attempt' && !then)
  return then === now ? undefined : now ? 'after' : 'before'
}

const standing = ({ stored, update }: Slot): TraceReport | undefined => update?.report ?? stored?.record

/** Returns the better evidence with the time, suppression and event of the replaced report. Its consequences are not settled yet. */
const revised = ({ at, suppression, eventId, revisions = 0 }: TraceReport, better: TraceReport): TraceReport => ({
  ...better,
  ...{ at, suppression, eventId, revisions: revisions + 1 },
})

/**
 * Returns whether the event may be about the later of two copies: it is not older than the last change of the trace. If a first copy may
 * have arrived and the message is sent again, both copies can bounce. The first bounce arrives while the recipient is queued and changes no
 * state; the second bounce does.
 */
const isOfLaterCopy = ({ type, occurredAt }: FeedbackEvent, trace: Trace, nowMs: number): boolean =>
  type !== 'deferred' && (occurredAt ?? nowMs) >= trace.updatedAt

const isReport = (event: FeedbackEvent): event is FeedbackEvent & { readonly type: ReportType } =>
  (reportTypes as readonly string[]).includes(event.type)
