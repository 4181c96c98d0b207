/**
 * Processes reports about sent mail from every entry point: finds their messages, then makes one write per message. Reports without a match
 * yet are stored and retried.
 */
import { Change } from '#store/change.ts'
import type { Core } from '../../core.ts'
import { countReported } from '../../insights/count.ts'
import { noteDomains } from '../../ingest-sources/domain-complaints.ts'
import { noteUnmatched, type UnmatchedReport } from '../../ingest-sources/unmatched-reports.ts'
import { Attributor, type Attribution, type NoAttribution } from '../apply/attribution.ts'
import { applyToTrace, type Applied, type Matched } from '../apply/apply-reports.ts'
import type { FeedbackEvent } from '../event.ts'
import { isVerified } from '../apply/trust.ts'
import { bringsProof, rememberReport, seenReports, type SeenReport } from './seen-reports.ts'
import type { FeedbackOrigin, FeedbackOutcome, FeedbackResult, FeedbackTaker } from '../feedback-origin.ts'
import { keepPending, pendingMs, pendingKey, readPendingRaw, type PendingReport } from './pending-report.ts'
import type { WaitingRoom } from './waiting-room.ts'
import { transact } from '../../writes/transact.ts'

export interface FeedbackOptions extends Core {
  readonly room: WaitingRoom
  /** Called after events were stored for retry. */
  readonly onPending: () => void
}

/** Maximum number of events in one batch and its final write. A request can contain many more. */
const maxBatch = 1000
/** Maximum number of concurrent look-ups or writes. */
const atOnce = 50

/** The attribution result of an event. `domain`: a complaint that does not identify a message. */
type AttributionResult = Attribution | NoAttribution | SeenReport | 'ignored' | 'domain'

export class Feedback implements FeedbackTaker {
  readonly #options: FeedbackOptions

  constructor(options: FeedbackOptions) {
    this.#options = options
  }

  async take(
    origin: FeedbackOrigin,
    events: readonly FeedbackEvent[],
    also?: (change: Change) => void,
  ): Promise<readonly FeedbackOutcome[]> {
    const outcomes: FeedbackOutcome[] = []
    for (let at = 0; at === 0 || at < events.length; at += maxBatch) {
      const isLast = at + maxBatch >= events.length
      outcomes.push(...(await this.#take(origin, events.slice(at, at + maxBatch), isLast ? also : undefined)))
    }
    return outcomes
  }

  async #take(
    origin: FeedbackOrigin,
    events: readonly FeedbackEvent[],
    also: ((change: Change) => void) | undefined,
  ): Promise<readonly FeedbackOutcome[]> {
    const { clock, database } = this.#options
    const now = clock.now()
    const known = await seenReports(database, origin, events)
    const attributor = new Attributor(this.#options, origin, events, now)
    const found = await runInSteps(events, async (event, i): Promise<AttributionResult> => {
      const seen = known[i]
      return seen ? provedNow(origin, event, seen, attributor) : (foundAtOnce(event) ?? attributor.find(event))
    })
    const outcomes = events.map((event, i) => outcomeOf(event, found[i] ?? 'ignored'))
    const waiting = this.#admitted(origin, events, found)
    const reported = events.filter((_, i) => known[i] === undefined && found[i] !== undefined && found[i] !== 'ignored')
    const last = (change: Change): void => {
      countEvents(change, origin, reported, now)
      for (const [i, event] of events.entries()) {
        const what = found[i] ?? 'ignored'
        if (what === 'ignored' || isSeen(what)) continue
        const isProved = typeof what === 'object' && 'proof' in what && isVerified(origin, event, what)
        rememberReport(change, origin, event, { traceId: outcomes[i]?.traceId ?? null, isProved }, now)
        if (what === 'domain') noteComplaint(change, origin, event, now)
      }
      keepPending(change, origin, waiting, now)
      const strangers = events.filter((event, i) => isUnmatched(found[i]) && !waiting.has(event))
      noteUnmatchedReports(change, origin, strangers, now)
      also?.(change)
    }
    const groups = groupsOf(events, found)
    const apply = async (group: readonly IndexedMatch[], more?: (change: Change) => void): Promise<void> => {
      const applied = await this.#apply(origin, group, now, more)
      for (const [i, { at, event }] of group.entries()) outcomes[at] = outcomeOf(event, found[at] ?? 'ignored', applied?.[i] ?? 'gone')
    }
    await runInSteps(groups.slice(0, -1), (group) => apply(group))
    const end = groups.at(-1)
    if (end) await apply(end, last)
    else await this.#commit(last)
    if (waiting.size > 0) this.#options.onPending()
    return outcomes
  }

  /** Returns the events that are stored for retry, within the capacity of the waiting room. */
  #admitted(origin: FeedbackOrigin, events: readonly FeedbackEvent[], found: readonly AttributionResult[]): ReadonlySet<FeedbackEvent> {
    const { room } = this.#options
    const admitted = events.filter((event, i) => {
      const isExpected = isExpectedSoon(found[i])
      const mayWait = isWorthWaitingFor(event, found[i]) && room.hasRoom(origin.organizationId, isExpected)
      if (mayWait) room.enter(origin.organizationId)
      return mayWait
    })
    return new Set(admitted)
  }

  /** Retries a pending report. After its time limit, applies it as it is or gives up. Returns true if it is no longer pending. */
  async retry(pending: PendingReport): Promise<boolean> {
    const { id, event, since } = pending
    const { clock, database } = this.#options
    const now = clock.now()
    const isLastTime = now - since >= pendingMs
    const found = await new Attributor(this.#options, pending.origin, [event], now).find(event)
    const end = (change: Change): Change => change.delete(pendingKey(id))
    const isFound = 'proof' in found && (!found.isEarly || isLastTime)
    const origin = isFound ? { ...pending.origin, raw: await readPendingRaw(database, pending) } : pending.origin
    if (isFound) await this.#apply(origin, [{ at: 0, event, attribution: found }], now, (change) => void end(change))
    else if (isLastTime) await this.#commit((change) => noteUnmatchedReports(end(change), origin, [event], now))
    return isFound || isLastTime
  }

  /** Applies events to one trace. Returns undefined if the trace no longer exists; the caller's additions are committed in any case. */
  async #apply(
    origin: FeedbackOrigin,
    group: readonly IndexedMatch[],
    nowMs: number,
    more: ((change: Change) => void) | undefined,
  ): Promise<readonly Applied[] | undefined> {
    const [first, ...rest] = group
    const applied = first && (await applyToTrace(this.#options, origin, [first, ...rest], nowMs, more))
    if (!applied && more) await this.#commit(more)
    return applied
  }

  /** Commits a write that reads no records of an organization. */
  #commit(fill: (change: Change) => void): Promise<void> {
    return transact(this.#options.database, { organizationId: '' }, fill)
  }
}

interface IndexedMatch extends Matched {
  /** Index of the event in the batch. */
  readonly at: number
}

/** Groups the events that can be applied now by trace. */
function groupsOf(events: readonly FeedbackEvent[], found: readonly AttributionResult[]): readonly (readonly IndexedMatch[])[] {
  const matches = events.flatMap((event, at): IndexedMatch[] => {
    const attribution = found[at]
    return typeof attribution === 'object' && 'proof' in attribution && !attribution.isEarly ? [{ at, event, attribution }] : []
  })
  return [...Map.groupBy(matches, ({ attribution: { organizationId, traceId } }) => `${organizationId}/${traceId}`).values()]
}

/**
 * Whether an unmatched report is worth a retry. A message is stored before it leaves, so an unmatched report rarely matches later. Only
 * bounces and complaints, which are few, are always stored.
 */
function isWorthWaitingFor({ type }: FeedbackEvent, found: AttributionResult | undefined): boolean {
  return isExpectedSoon(found) || (isUnmatched(found) && (type === 'bounced' || type === 'complained'))
}

/** Whether a matching or candidate message exists and its attempt is in progress. */
function isExpectedSoon(found: AttributionResult | undefined): boolean {
  if (typeof found !== 'object' || isSeen(found)) return false
  return 'proof' in found ? found.isEarly : found.mayFitSoon
}

const isUnmatched = (found: AttributionResult | undefined): found is NoAttribution => typeof found === 'object' && 'mayFitSoon' in found

function noteUnmatchedReports(
  change: Change,
  { organizationId, sourceId }: FeedbackOrigin,
  events: readonly FeedbackEvent[],
  nowMs: number,
): void {
  if (organizationId === null || sourceId === null) return
  noteUnmatched(change, { organizationId, sourceId }, events.flatMap(toUnmatched), nowMs)
}

function countEvents(change: Change, { organizationId, sourceId }: FeedbackOrigin, events: readonly FeedbackEvent[], nowMs: number): void {
  if (organizationId === null || sourceId === null) return
  const names = events.flatMap(({ type }) => (type === 'ignored' ? [] : ([type === 'bounce_unparsed' ? 'unreadable' : type] as const)))
  countReported(change, { organizationId, sourceId }, names, nowMs)
}

function toUnmatched({ type, clues, ...rest }: FeedbackEvent): UnmatchedReport[] {
  if (type === 'ignored' || type === 'bounce_unparsed') return []
  const { key, occurredAt, recipient, status, diagnostic } = rest
  return [{ type, key, occurredAt, recipient, status, diagnostic, messageId: clues.messageIds[0] ?? null }]
}

function noteComplaint(change: Change, { organizationId, sourceId }: FeedbackOrigin, { key, clues }: FeedbackEvent, nowMs: number): void {
  if (organizationId !== null && sourceId !== null) noteDomains(change, { organizationId, sourceId }, clues.domains ?? [], key, nowMs)
}

function outcomeOf(event: FeedbackEvent, found: AttributionResult, applied?: Applied | 'gone'): FeedbackOutcome {
  const attribution = typeof found === 'object' && 'proof' in found && applied !== 'gone' ? found : undefined
  const done = typeof applied === 'object' ? applied : undefined
  return {
    event,
    result: done?.result ?? resultOf(found),
    traceId: attribution?.traceId ?? (isSeen(found) ? found.traceId : null),
    projectId: attribution?.projectId ?? null,
    recipient: attribution?.recipient ?? null,
    bounce: done?.bounce ?? null,
    isUnverified: done?.isUnverified ?? false,
    suppressed: done?.suppressed ?? false,
  }
}

function resultOf(found: AttributionResult): FeedbackResult {
  if (found === 'ignored') return 'ignored'
  if (found === 'domain') return 'recorded'
  return isSeen(found) ? 'duplicate' : 'unmatched'
}

const isSeen = (found: AttributionResult): found is SeenReport => typeof found === 'object' && 'isSeen' in found

/** Applies a repeated event if the repetition is verified and the earlier report was not. */
async function provedNow(
  origin: FeedbackOrigin,
  event: FeedbackEvent,
  seen: SeenReport,
  attributor: Attributor,
): Promise<AttributionResult> {
  if (seen.isProved || !bringsProof(event)) return seen
  const found = await attributor.find(event)
  return 'proof' in found && isVerified(origin, event, found) ? found : seen
}

/** Returns the result of an event that needs no look-up. */
function foundAtOnce({ type, recipient, clues }: FeedbackEvent): AttributionResult | undefined {
  if (type === 'ignored') return 'ignored'
  return type === 'complained' && recipient === null && clues.domains?.length ? 'domain' : undefined
}

/** Runs the work in steps of `atOnce` items and returns the results in order. */
async function runInSteps<T, R>(items: readonly T[], work: (item: T, at: number) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    answers.push(...(await Promise.all(items.slice(at, at + atOnce).map((item, i) => work(item, at + i)))))
  return answers
}
