/** Writes what reports tell of one message: reports, states, suppressions and webhook events in one write, with what the caller adds. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { recordKey, type Stored } from '#store/record-kind.ts'
import { isSwitchedOn } from '../features.ts'
import { Refusal } from '../refusals.ts'
import type { Policies, Policy } from '../routing/policy.ts'
import { keepReport, keptReportBytes } from '../trace/kept-report.ts'
import { reportId, reportTypes, traceReports, type ReportType, type TraceReport } from '../trace/trace-report.ts'
import { traces, type Trace } from '../trace/trace.ts'
import { announce } from '../webhooks/announce.ts'
import type { Attribution } from './attribution.ts'
import { causeOfSuppression, entryFor } from './auto-suppression.ts'
import { isVerified, maySuppress } from './belief.ts'
import { afterReport, reportOf } from './decide.ts'
import type { BounceClass, FeedbackEvent } from './event.ts'
import type { FeedbackOrigin } from './origin.ts'
import { stageSuppressions } from './place.ts'

export interface ApplyOptions {
  readonly database: Database
  readonly policies: Policies
}

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

/** A report that is new. */
interface News {
  readonly report: TraceReport
  readonly maySuppress: boolean
  suppressed: boolean
}

/** Others may write to the same trace meanwhile; each time one of them is done. */
const triesMax = 100

/** One answer for each event, in order; undefined when the trace is gone, and nothing was written. */
export async function applyToTrace(
  options: ApplyOptions,
  origin: FeedbackOrigin,
  matched: readonly [Matched, ...Matched[]],
  nowMs: number,
  also: ((change: Change) => void) | undefined,
): Promise<readonly Applied[] | undefined> {
  const { database, policies } = options
  const [{ attribution }] = matched
  const { organizationId, traceId } = attribution
  for (let tries = 0; tries < triesMax; tries++) {
    const policy = await policies.of(organizationId)
    const stored = await database.get(traces, { organizationId }, traceId)
    if (!stored || !policy.projects.has(stored.record.projectId)) return undefined
    const work = new Work(database, policy, organizationId, stored, origin, nowMs)
    const answers: (News | 'duplicate' | 'ignored')[] = []
    for (const one of matched) answers.push(await work.take(one))
    const change = await work.change()
    also?.(change)
    const isEmpty = change.sets.length + change.deletes.length + change.adds.length === 0
    if (isEmpty || (await database.commit(change)).ok) return answers.map(toApplied)
  }
  throw new Refusal('conflict', 'The message was changed by others at the same time; send the report again.')
}

const toApplied = (answer: News | 'duplicate' | 'ignored'): Applied =>
  typeof answer === 'string'
    ? { result: answer, bounce: null, isUnverified: false, suppressed: false }
    : { result: 'recorded', bounce: answer.report.bounce, isUnverified: answer.report.isUnverified, suppressed: answer.suppressed }

class Work {
  readonly #database: Database
  readonly #policy: Policy
  readonly #organizationId: string
  readonly #stored: Stored<Trace>
  readonly #origin: FeedbackOrigin
  readonly #nowMs: number
  readonly #news = new Map<string, News>()
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

  async take({ event, attribution }: Matched): Promise<News | 'duplicate' | 'ignored'> {
    if (!isReport(event) || !isSwitchedOn(this.#policy.organization, 'bounce_sources')) return 'ignored'
    const isUnverified = !isVerified(this.#origin, event, attribution)
    const { sourceId, raw } = this.#origin
    const rawBytes = Math.min(raw?.length ?? 0, keptReportBytes)
    const rawOf = rawBytes > 0 ? [...this.#news.keys()][0] : undefined
    const report = reportOf({ event, attribution, isUnverified, sourceId, rawBytes, rawOf }, this.#nowMs)
    if (await this.#isKnown(attribution, event.type, isUnverified)) {
      if (isOfLaterCopy(event, this.#trace, this.#nowMs)) this.#trace = afterReport(this.#trace, report)
      return 'duplicate'
    }
    const news = { report, maySuppress: maySuppress(this.#origin, event, attribution), suppressed: false }
    this.#trace = afterReport(this.#trace, report)
    this.#news.set(report.id, news)
    return news
  }

  /** What somebody vouches for goes before what nobody does, but not the other way round. */
  async #isKnown({ traceId, recipient }: Attribution, type: ReportType, isUnverified: boolean): Promise<boolean> {
    const ids = [false, true].slice(0, isUnverified ? 2 : 1).map((unverified) => reportId(traceId, recipient, type, unverified))
    if (ids.some((id) => this.#news.has(id))) return true
    const rows = await this.#database.kv.getMany(ids.map((id) => recordKey(traceReports, this.#organizationId, id)))
    return rows.some((row) => row !== undefined)
  }

  /** The write; empty when nothing is new. */
  async change(): Promise<Change> {
    const change = new Change()
    const news = [...this.#news.values()]
    const { record, version } = this.#stored
    if (news.length === 0 && this.#trace === record) return change
    const reports = await this.#suppress(change, news)
    if (this.#trace === record)
      change.check([this.#organizationId, traces.name, record.id], version) // so that nothing outlives its trace
    else change.rewrite(traces, this.#organizationId, this.#stored, this.#trace)
    for (const report of reports) {
      change.insert(traceReports, this.#organizationId, report)
      keepReport(change, this.#organizationId, report, this.#origin.raw)
      this.#announce(change, report)
    }
    return change
  }

  /** Puts on the list whom the reports call for, and says so in them. */
  async #suppress(change: Change, news: readonly News[]): Promise<readonly TraceReport[]> {
    const causes = await Promise.all(
      news.map(async ({ report, maySuppress: may }) =>
        may ? causeOfSuppression(this.#database, change, this.#organizationId, report) : undefined,
      ),
    )
    const isOn = isSwitchedOn(this.#policy.organization, 'bounce_auto_suppress')
    const meant = news.flatMap((one, i) => {
      const cause = isOn ? causes[i] : undefined
      return cause === undefined ? [] : [{ one, cause, entry: entryFor(one.report, cause) }]
    })
    if (meant.length === 0) return news.map(({ report }) => report)
    const entries = meant.map(({ entry }) => entry)
    const placed = await stageSuppressions(this.#database, change, this.#organizationId, entries, this.#nowMs)
    const hits = new Map(meant.map(({ one, cause }, i) => [one, placed[i]?.added ? { id: placed[i].suppression.id, reason: cause } : null]))
    return news.map((one) => {
      const suppression = hits.get(one) ?? null
      one.suppressed = suppression !== null
      return { ...one.report, suppression }
    })
  }

  #announce(change: Change, report: TraceReport): void {
    const { type, recipient, reason, at, occurredAt, isUnverified, feedbackType, suppression } = report
    if (isUnverified || recipient === null || type === 'deferred' || type === 'bounce_unparsed') return
    const { bounce, category, status, smtpCode, diagnostic, remoteMta } = report
    const event = { organizationId: this.#organizationId, trace: this.#trace, recipient, reason, at, occurredAt }
    const cause = {
      ...(bounce !== null && { bounce: { class: bounce, category, status, smtpCode, diagnostic, remoteMta } }),
      ...(type === 'complained' && { complaint: { feedbackType } }),
    }
    announce(change, this.#policy.webhooks, { ...event, ...cause, type })
    if (suppression === null) return
    const entry = { ...suppression, expiresAt: null }
    announce(change, this.#policy.webhooks, { ...event, ...cause, type: 'auto_suppressed', reason: suppression.reason, suppression: entry })
  }
}

/**
 * A message whose first copy may have arrived is sent again, and both copies can bounce: the first bounce, told while the recipient
 * still waited, changed no state, so the second one does. What happened before the last change tells of the first copy.
 */
const isOfLaterCopy = ({ type, occurredAt }: FeedbackEvent, trace: Trace, nowMs: number): boolean =>
  type !== 'deferred' && (occurredAt ?? nowMs) >= trace.updatedAt

const isReport = (event: FeedbackEvent): event is FeedbackEvent & { readonly type: ReportType } =>
  (reportTypes as readonly string[]).includes(event.type)
