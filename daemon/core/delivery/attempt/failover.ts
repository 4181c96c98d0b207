/** Where a message goes when its destination does not take it: the pure part of failover. Spec "Failover policy". */
import { addressOf, type Destination } from '../../routing/destination.ts'
import type { FailoverCause, FailoverPolicy, Failovers } from '../../routing/failover-policy.ts'
import type { FailoverNote } from '../../trace/attempt-record.ts'
import type { Trace } from '../../trace/trace.ts'
import type { ErrorClass } from './error-class.ts'

/** What a decision looks at. */
export interface FailoverSettings {
  readonly destinations: ReadonlyMap<string, Destination>
  readonly failovers: Failovers
}

/** How destinations are now. */
export interface FailoverHealth {
  /** Milliseconds until the breaker lets another attempt through; 0 when it does now. */
  restMs(destination: Destination): number
  /** Milliseconds for which the provider gets nothing, as it asked for fewer messages. */
  throttledMs(destinationId: string): number
  /** The 95th percentile of the last minutes; undefined where it is not known. */
  recentP95Ms(destinationId: string): number | undefined
}

/** A message goes to `to`: at once, or when its next attempt is due. */
export interface Failover {
  readonly to: string
  readonly isAtOnce: boolean
  readonly note: FailoverNote
}

/** Instead of an attempt: the message moves now, or waits until `dueMs`. */
export type Skip = { readonly failover: Failover } | { readonly to: string; readonly waitMs: number }

/** Passes that a trace keeps; a message that is passed on more often than that forgets the oldest. */
const maxPasses = 20

/** What of a message says where it is to go. */
export type Bound = Pick<Trace, 'projectId' | 'destinationId' | 'failover' | 'approval'>

/** The destination that routing or a replay chose, wherever failover has moved the message since; empty when there is none. */
export const primaryOf = ({ failover, destinationId }: Pick<Bound, 'destinationId' | 'failover'>): string =>
  failover?.primaryId ?? destinationId ?? ''

/** A message that a person approved goes through no destination that they were not shown, whatever the policy is by now. */
function policyOf({ destinations, failovers }: FailoverSettings, trace: Bound): FailoverPolicy | undefined {
  const policy = failovers.of(trace.projectId, primaryOf(trace))
  const shown = trace.approval?.fallbacks
  if (!policy || !shown) return policy
  const isShown = (id: string): boolean => {
    const destination = destinations.get(id)
    return destination !== undefined && shown.some((one) => one.id === id && one.through === addressOf(destination))
  }
  return { ...policy, fallbackIds: policy.fallbackIds.filter(isShown) }
}

/** Before an attempt at `here`: undefined makes it there. */
export function skipDestination(settings: FailoverSettings, health: FailoverHealth, trace: Bound, here: Destination): Skip | undefined {
  const policy = policyOf(settings, trace)
  const isSkipped = settings.failovers.isSkipped(here.id)
  const breakerMs = isSkipped ? health.restMs(here) : 0
  const restMs = Math.max(breakerMs, isSkipped ? health.throttledMs(here.id) : 0)
  const cause = breakerMs > 0 ? 'breaker_open' : restMs > 0 ? 'rate_limited' : isSlow(policy, health, here) ? 'latency' : undefined
  if (cause === undefined) return undefined
  if (policy?.on.includes(cause)) {
    const failover = search(settings, health, policy, here.id, cause)
    if (failover.isAtOnce) return { failover }
  }
  if (restMs === 0) return undefined
  // no destination takes it now: it waits for the primary, where the next round begins
  const primary = settings.destinations.get(primaryOf(trace)) ?? here
  return { to: primary.id, waitMs: primary.id === here.id ? restMs : Math.max(health.restMs(primary), 1000) }
}

/** After an attempt at `here` that left recipients queued; undefined leaves the message there. */
export function failOver(
  settings: FailoverSettings,
  health: FailoverHealth,
  trace: Trace,
  here: string,
  found: ErrorClass | undefined,
): Failover | undefined {
  if (found === undefined) return undefined
  const policy = policyOf(settings, trace)
  const cause = found === 'unknown' ? 'transient' : found
  if (policy?.on.includes(cause)) return search(settings, health, policy, here, cause)
  const primaryId = primaryOf(trace)
  return here === primaryId || !settings.destinations.has(primaryId) ? undefined : back(settings, primaryId, cause, [])
}

/** The trace on its new way. */
export function afterFailover(trace: Trace, { to, isAtOnce }: Failover): Trace {
  const { detours = 0, passes = [] } = trace.failover ?? {}
  const failover = { primaryId: primaryOf(trace), detours: detours + (isAtOnce ? 1 : 0), passes }
  return { ...trace, destinationId: to, failover }
}

/** The trace on its new way without an attempt; it keeps the reason, as there is no attempt to show it. */
export function afterSkip(trace: Trace, { to, note }: Failover, now: number): Trace {
  const { detours = 0, passes = [] } = trace.failover ?? {}
  const kept = [...passes, { at: now, from: trace.destinationId ?? '', ...note }].slice(-maxPasses)
  return {
    ...trace,
    destinationId: to,
    updatedAt: now,
    nextAttemptAt: now,
    failover: { primaryId: primaryOf(trace), detours, passes: kept },
  }
}

function isSlow(policy: FailoverPolicy | undefined, health: FailoverHealth, here: Destination): boolean {
  if (policy?.latencyMs == null || here.id === policy.fallbackIds.at(-1)) return false
  return (health.recentP95Ms(here.id) ?? 0) > policy.latencyMs
}

/** The next fallback that can take mail now, or the primary for the next round. */
function search(settings: FailoverSettings, health: FailoverHealth, policy: FailoverPolicy, here: string, cause: FailoverCause): Failover {
  const { primaryId, fallbackIds } = policy
  const skipped: string[] = []
  const left = here === primaryId ? fallbackIds : fallbackIds.slice(fallbackIds.indexOf(here) + 1)
  if (here !== primaryId && !fallbackIds.includes(here)) return back(settings, primaryId, cause, [])
  for (const id of left) {
    const why = unusable(settings.destinations.get(id), health)
    if (why === undefined) {
      const message = sentence(cause, skipped, `goes on to the fallback ${nameOf(settings, id)}.`)
      return { to: id, isAtOnce: true, note: { to: id, cause, message } }
    }
    skipped.push(`${nameOf(settings, id)} (${why})`)
  }
  return back(settings, primaryId, cause, skipped)
}

function back(settings: FailoverSettings, primaryId: string, cause: FailoverCause, skipped: readonly string[]): Failover {
  const message = sentence(cause, skipped, `has no further fallback; its next attempt is at ${nameOf(settings, primaryId)} again.`)
  return { to: primaryId, isAtOnce: false, note: { to: primaryId, cause, message } }
}

function unusable(destination: Destination | undefined, health: FailoverHealth): string | undefined {
  if (!destination) return 'deleted'
  if (destination.mode !== 'live') return 'in sandbox mode'
  if (health.restMs(destination) > 0) return 'its circuit breaker is open'
  return health.throttledMs(destination.id) > 0 ? 'its provider is rate limiting' : undefined
}

const reasons = {
  transient: 'The attempt failed temporarily',
  rate_limited: 'The provider is rate limiting',
  misconfigured: 'The destination is misconfigured',
  breaker_open: 'The circuit breaker of the destination is open',
  latency: 'The latency of the destination exceeds the limit of the failover policy',
} as const satisfies Record<FailoverCause, string>

const sentence = (cause: FailoverCause, skipped: readonly string[], end: string): string =>
  `${reasons[cause]}: the message ${skipped.length > 0 ? `skips ${skipped.join(', ')} and ` : ''}${end}`

const nameOf = ({ destinations }: FailoverSettings, id: string): string => destinations.get(id)?.name ?? id
