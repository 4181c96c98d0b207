/**
 * Circuit breaker of one destination, as a pure state machine. Closed: mail is sent. Open: mail stays in the queue for a growing pause.
 * Half-open: one attempt is allowed, and its outcome decides.
 */

export type BreakerPhase = 'closed' | 'open' | 'half_open'

export const breakerCauses = ['faults_in_row', 'fault_rate', 'trial_failed'] as const
/** Machine-readable reason of an opening, for callers with their own wording. */
export interface BreakerCause {
  readonly code: (typeof breakerCauses)[number]
  /** Failed attempts, out of `attempts`. */
  readonly failed: number
  readonly attempts: number
  /** Error of the last failed attempt. */
  readonly error: BreakerFault
}

export interface BreakerFault {
  /** A stable code, such as `connect_refused`. */
  readonly code: string
  /** A sentence with the provider's reply. */
  readonly message: string
}

export interface Breaker {
  /** Half-open is `open` after the pause. */
  readonly state: 'closed' | 'open'
  /** Start of this state on the wall clock; null for a new breaker. */
  readonly since: number | null
  /** Reason of the opening, in one sentence; null while closed. */
  readonly reason: string | null
  readonly cause: BreakerCause | null
  /** End of the pause; 0 while closed. */
  readonly until: number
  /** Consecutive openings without a success. */
  readonly openings: number
  /** Consecutive faults while closed. */
  readonly faultsInRow: number
  /** Attempts and faults since `countedFrom`, for the error rate. */
  readonly countedFrom: number
  readonly attempts: number
  readonly faults: number
}

/** Consecutive faults that open the breaker. */
const maxFaultsInRow = 5
/** Minimum attempts within a minute for the error rate. A rate of at least one half opens the breaker. */
const rateAttemptsMin = 20
const maxRate = 0.5
const rateWindowMs = 60_000
/** The first pause. Each failed trial doubles it, up to the longest. */
const firstPauseMs = 30_000
const longestPauseMs = 15 * 60_000
/** Relative variation of a pause in either direction, so that many breakers do not retry together. */
const jitter = 0.2

const fresh = {
  state: 'closed',
  reason: null,
  cause: null,
  until: 0,
  openings: 0,
  faultsInRow: 0,
  countedFrom: 0,
  attempts: 0,
  faults: 0,
} as const

export const newBreaker: Breaker = { ...fresh, since: null }

export const phaseOf = ({ state, until }: Breaker, now: number): BreakerPhase =>
  state === 'closed' ? 'closed' : now < until ? 'open' : 'half_open'

/**
 * Applies an attempt that the provider answered, including refusals of recipients. While open, only a trial after the pause closes the
 * breaker.
 */
export function afterSuccess(breaker: Breaker, now: number): Breaker {
  const phase = phaseOf(breaker, now)
  if (phase === 'half_open') return { ...fresh, since: now }
  return phase === 'open' ? breaker : { ...counted(breaker, now, 0), faultsInRow: 0 }
}

/**
 * Applies a failed connection, TLS handshake or sign-in, or a missing reply; `fault` describes the end of the attempt. `random` is in [0,
 * 1).
 */
export function afterFault(breaker: Breaker, fault: BreakerFault, now: number, random: number): Breaker {
  const phase = phaseOf(breaker, now)
  if (phase === 'open') return breaker // the attempt began before the opening
  if (phase === 'half_open') return opened(breaker, { code: 'trial_failed', failed: 1, attempts: 1, error: fault }, now, random)
  const next = { ...counted(breaker, now, 1), faultsInRow: breaker.faultsInRow + 1 }
  if (next.faultsInRow >= maxFaultsInRow)
    return opened(next, { code: 'faults_in_row', failed: next.faultsInRow, attempts: next.faultsInRow, error: fault }, now, random)
  if (next.attempts < rateAttemptsMin || next.faults / next.attempts < maxRate) return next
  return opened(next, { code: 'fault_rate', failed: next.faults, attempts: next.attempts, error: fault }, now, random)
}

/** Ends the pause after a successful test; the next message is the trial. */
export const endPause = (breaker: Breaker, now: number): Breaker =>
  phaseOf(breaker, now) === 'open' ? { ...breaker, until: now } : breaker

function reasonOf({ code, failed, attempts, error: { message } }: BreakerCause): string {
  if (code === 'trial_failed') return `The trial attempt after the pause failed: ${message}`
  if (code === 'faults_in_row') return `${failed} consecutive attempts failed; the last one: ${message}`
  return `${failed} of ${attempts} attempts within a minute failed; the last one: ${message}`
}

function opened(breaker: Breaker, cause: BreakerCause, now: number, random: number): Breaker {
  const pause = Math.min(firstPauseMs * 2 ** breaker.openings, longestPauseMs)
  const until = Math.round(now + pause * (1 + jitter * (2 * random - 1)))
  const since = breaker.state === 'open' ? breaker.since : now
  return { ...fresh, state: 'open', since, reason: reasonOf(cause), cause, until, openings: breaker.openings + 1 }
}

function counted(breaker: Breaker, now: number, faults: 0 | 1): Breaker {
  const isOver = now - breaker.countedFrom >= rateWindowMs || now < breaker.countedFrom
  const before = isOver ? { countedFrom: now, attempts: 0, faults: 0 } : breaker
  return { ...breaker, countedFrom: before.countedFrom, attempts: before.attempts + 1, faults: before.faults + faults }
}
