/**
 * Takes in what is told of mail after it left, from whatever door: finds the messages, and makes one write for each. What fits no
 * message yet waits in the store and is tried again.
 */
import { Change } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import { Attributor, type Attribution, type NoAttribution } from './attribution.ts'
import { applyToTrace, type Applied, type ApplyOptions, type Matched } from './apply.ts'
import type { FeedbackEvent } from './event.ts'
import type { FeedbackOrigin, FeedbackOutcome, FeedbackTaker } from './origin.ts'
import { keepPending, patienceMs, pendingId, pendingKey, type PendingReport } from './pending-report.ts'

export interface FeedbackOptions extends ApplyOptions {
  readonly secrets: SecretBox
  readonly clock: Clock
  /** Something waits to be tried again. */
  readonly onPending: () => void
}

/** So many look-ups, or writes, at a time. */
const atOnce = 50
const triesMax = 10

type Found = Attribution | NoAttribution | 'ignored'

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
    const now = this.#options.clock.now()
    const attributor = new Attributor(this.#options, origin, events, now)
    const found = await inTurns(events, async (event): Promise<Found> => (event.type === 'ignored' ? 'ignored' : attributor.find(event)))
    const outcomes = events.map((event, i) => outcomeOf(event, found[i] ?? 'ignored'))
    const early = events.filter((event, i) => isWorthWaitingFor(event, found[i]))
    const waiting = await this.#waitingNow(origin, early)
    for (const [i, event] of events.entries())
      if (waiting.has(event) && outcomes[i]) outcomes[i] = { ...outcomes[i], result: 'duplicate' }
    const news = early.filter((event) => !waiting.has(event))
    const last = (change: Change): void => {
      for (const event of news) keepPending(change, { id: pendingId(origin, event), origin, event, since: now })
      also?.(change)
    }
    const places = groupsOf(events, found)
    const apply = async (group: readonly Place[], more?: (change: Change) => void): Promise<void> => {
      const applied = await this.#apply(origin, group, now, more)
      for (const [i, { at, event }] of group.entries()) outcomes[at] = outcomeOf(event, found[at] ?? 'ignored', applied?.[i] ?? 'gone')
    }
    const ending = news.length > 0 || also ? last : undefined
    await inTurns(places.slice(0, -1), (group) => apply(group))
    const end = places.at(-1)
    if (end) await apply(end, ending)
    else if (ending) await this.#commit(ending)
    if (news.length > 0) this.#options.onPending()
    return outcomes
  }

  /** Tries one that waits again; at the end of its time it is taken as it is, or given up. */
  async retry(pending: PendingReport): Promise<void> {
    const { id, origin, event, since } = pending
    const now = this.#options.clock.now()
    const isLastTime = now - since >= patienceMs
    const found = await new Attributor(this.#options, origin, [event], now).find(event)
    const end = (change: Change): void => void change.delete(pendingKey(id))
    if ('proof' in found && (!found.isEarly || isLastTime)) await this.#apply(origin, [{ at: 0, event, attribution: found }], now, end)
    else if (isLastTime) await this.#commit(end)
  }

  /** Undefined when the message is gone meanwhile; what the caller adds is written all the same. */
  async #apply(
    origin: FeedbackOrigin,
    group: readonly Place[],
    nowMs: number,
    more: ((change: Change) => void) | undefined,
  ): Promise<readonly Applied[] | undefined> {
    const [first, ...rest] = group
    const applied = first && (await applyToTrace(this.#options, origin, [first, ...rest], nowMs, more))
    if (!applied && more) await this.#commit(more)
    return applied
  }

  async #commit(fill: (change: Change) => void): Promise<void> {
    for (let tries = 0; tries < triesMax; tries++) {
      const change = new Change()
      fill(change)
      if ((await this.#options.database.commit(change)).ok) return
    }
    throw new Refusal('conflict', 'Somebody else took the same reports at the same time; send them again.')
  }

  /** Those of the events that wait already. */
  async #waitingNow(origin: FeedbackOrigin, events: readonly FeedbackEvent[]): Promise<ReadonlySet<FeedbackEvent>> {
    const known = new Set<string>()
    const twice = events.filter((event) => known.size === known.add(event.key).size)
    const rows = await this.#options.database.kv.getMany(events.map((event) => pack(pendingKey(pendingId(origin, event)))))
    return new Set([...twice, ...events.filter((_, i) => rows[i] !== undefined)])
  }
}

interface Place extends Matched {
  /** Its place among the events. */
  readonly at: number
}

/** What can be applied now, by trace. */
function groupsOf(events: readonly FeedbackEvent[], found: readonly Found[]): readonly (readonly Place[])[] {
  const places = events.flatMap((event, at): Place[] => {
    const attribution = found[at]
    return typeof attribution === 'object' && 'proof' in attribution && !attribution.isEarly ? [{ at, event, attribution }] : []
  })
  return [...Map.groupBy(places, ({ attribution: { organizationId, traceId } }) => `${organizationId}/${traceId}`).values()]
}

/**
 * A message stands in the store before it leaves, so a report that fits none now will hardly fit one later; only bounces and
 * complaints, which are few, are kept in any case.
 */
function isWorthWaitingFor({ type }: FeedbackEvent, found: Found | undefined): boolean {
  if (typeof found !== 'object') return false
  if ('proof' in found) return found.isEarly
  return found.mayFitSoon || type === 'bounced' || type === 'complained'
}

function outcomeOf(event: FeedbackEvent, found: Found, applied?: Applied | 'gone'): FeedbackOutcome {
  const attribution = typeof found === 'object' && 'proof' in found && applied !== 'gone' ? found : undefined
  const done = typeof applied === 'object' ? applied : undefined
  return {
    event,
    result: done?.result ?? (found === 'ignored' ? 'ignored' : 'unmatched'),
    traceId: attribution?.traceId ?? null,
    projectId: attribution?.projectId ?? null,
    recipient: attribution?.recipient ?? null,
    bounce: done?.bounce ?? null,
    isUnverified: done?.isUnverified ?? false,
    suppressed: done?.suppressed ?? false,
  }
}

/** Some at a time, each in its place of the answer. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = []
  for (let at = 0; at < items.length; at += atOnce) answers.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  return answers
}
