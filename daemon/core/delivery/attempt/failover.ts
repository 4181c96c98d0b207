/** Decides the next destination when a destination does not accept a message. Pure. Spec "Failover policy". */
import { addressOf, type Destination } from '../../routing/destination.ts'
import type { FailoverCause, FailoverPolicy, Failovers } from '../../routing/failover-policy.ts'
import type { FailoverNote } from '../../trace/attempt-record.ts'
import type { Trace } from '../../trace/trace.ts'
import type { ErrorClass } from './error-class.ts'

/** Settings that the decision reads. */
export interface FailoverSettings {
  readonly destinations: ReadonlyMap<string, Destination>
  readonly failovers: Failovers
}

/** Current health of destinations. */
export interface FailoverHealth {
  /** Milliseconds until the breaker allows another attempt; 0 if it allows one now. */
  restMs(destination: Destination): number
  /** Milliseconds until the end of the pause for a provider that requested fewer messages. */
  throttledMs(destinationId: string): number
  /** The 95th percentile of recent minutes; undefined if not known. */
  recentP95Ms(destinationId: string): number | undefined
}

/** Moves the message to `to`, immediately or with its next attempt. */
export interface Failover {
  readonly to: string
  readonly isAtOnce: boolean
  readonly note: FailoverNote
}

/** Decision to skip an attempt: the message moves to another destination, or waits `waitMs` milliseconds for the destination `to`. */
export type Skip = { readonly failover: Failover } | { readonly to: string; readonly waitMs: number }

/** Maximum number of skips stored in a trace; the oldest are dropped. */
const maxPasses = 20

/** Fields of a message that determine its destination. */
export type Bound = Pick<Trace, 'projectId' | 'destinationId' | 'failover' | 'approval'>

/** Returns the destination chosen by routing or a replay, independent of failover; empty if the message has no destination. */
export const primaryOf = ({ failover, destinationId }: Pick<Bound, 'destinationId' | 'failover'>): string =>
  failover?.primaryId ?? destinationId ?? ''

/** Limits the fallbacks of an approved message to those shown to the approver, regardless of later policy changes. */
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

/** Checks the destination before an attempt. Undefined allows the attempt. */
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
  // no destination accepts mail now: the message waits for the primary, where the next round begins
  const primary = settings.destinations.get(primaryOf(trace)) ?? here
  return { to: primary.id, waitMs: primary.id === here.id ? restMs : Math.max(health.restMs(primary), 1000) }
}

/** Decides after an attempt that left recipients queued. Undefined keeps the destination. */
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

/** Returns the trace with its next destination after an attempt. */
export function afterFailover(trace: Trace, { to, isAtOnce }: Failover): Trace {
  const { detours = 0, passes = [] } = trace.failover ?? {}
  const failover = { primaryId: primaryOf(trace), detours: detours + (isAtOnce ? 1 : 0), passes }
  return { ...trace, destinationId: to, failover }
}

/** Returns the trace with its next destination without an attempt, and with the reason, which no attempt shows. */
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

/** Returns the next fallback that can accept mail now, or the primary for the next round. */
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
