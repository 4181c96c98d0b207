/**
 * The circuit breaker of one destination, as a pure state machine. Closed, mail goes out; open, it rests in the queue for a
 * pause that grows; half-open, one attempt is let through, and its outcome decides.
 */

export type BreakerPhase = 'closed' | 'open' | 'half_open'

export const breakerCauses = ['faults_in_row', 'fault_rate', 'trial_failed'] as const
/** Why a breaker opened, for those who say it in other words than `reason`. */
export interface BreakerCause {
  readonly code: (typeof breakerCauses)[number]
  /** Attempts that failed, of `attempts`. */
  readonly failed: number
  readonly attempts: number
  /** Of the last of them. */
  readonly error: BreakerFault
}

export interface BreakerFault {
  /** A stable name, such as `connect_refused`. */
  readonly code: string
  /** A sentence, with what the provider replied. */
  readonly message: string
}

export interface Breaker {
  /** Half-open is `open` past its pause. */
  readonly state: 'closed' | 'open'
  /** When this state began, on the wall clock; null when nothing has happened yet. */
  readonly since: number | null
  /** Why it opened, in one sentence; null while closed. */
  readonly reason: string | null
  readonly cause: BreakerCause | null
  /** The end of the pause; 0 while closed. */
  readonly until: number
  /** Openings without a success between them. */
  readonly openings: number
  /** Faults in a row while closed. */
  readonly faultsInRow: number
  /** Attempts and faults since `countedFrom`, for the error rate. */
  readonly countedFrom: number
  readonly attempts: number
  readonly faults: number
}

/** So many faults in a row open it. */
const maxFaultsInRow = 5
/** So many attempts within a minute, half of them faults, open it too. */
const rateAttemptsMin = 20
const maxRate = 0.5
const rateWindowMs = 60_000
/** The first pause; it doubles with every trial that fails, up to the longest. */
const firstPauseMs = 30_000
const longestPauseMs = 15 * 60_000
/** Share by which a pause is varied either way, so that many breakers do not try together. */
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

/** The provider did its part, whatever it said of recipients. While open, only the trial after the pause closes the breaker. */
export function afterSuccess(breaker: Breaker, now: number): Breaker {
  const phase = phaseOf(breaker, now)
  if (phase === 'half_open') return { ...fresh, since: now }
  return phase === 'open' ? breaker : { ...counted(breaker, now, 0), faultsInRow: 0 }
}

/** A connection, TLS or sign-in failed, or the provider fell silent; `fault` is how the attempt ended. `random` is in [0, 1). */
export function afterFault(breaker: Breaker, fault: BreakerFault, now: number, random: number): Breaker {
  const phase = phaseOf(breaker, now)
  if (phase === 'open') return breaker // an attempt that had begun before
  if (phase === 'half_open') return opened(breaker, { code: 'trial_failed', failed: 1, attempts: 1, error: fault }, now, random)
  const next = { ...counted(breaker, now, 1), faultsInRow: breaker.faultsInRow + 1 }
  if (next.faultsInRow >= maxFaultsInRow)
    return opened(next, { code: 'faults_in_row', failed: next.faultsInRow, attempts: next.faultsInRow, error: fault }, now, random)
  if (next.attempts < rateAttemptsMin || next.faults / next.attempts < maxRate) return next
  return opened(next, { code: 'fault_rate', failed: next.faults, attempts: next.attempts, error: fault }, now, random)
}

/** Somebody saw the provider work: the pause ends now, and the next message is the trial. */
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
