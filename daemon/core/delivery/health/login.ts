/** Whether a provider accepts the login of a destination, from its attempts and probes. Pure. */
import type { AttemptReport, ProbeStep } from '../transport.ts'

export interface Login {
  /** Consecutive refusals; a refused probe counts as two. */
  readonly refusals: number
  /** Code of the last refusal; null after a sign-in. */
  readonly code: string | null
  /** Time of the last refusal; null after a sign-in. */
  readonly refusedAt: number | null
}

interface RefusedLogin extends Login {
  readonly code: string
  readonly refusedAt: number
}

/** Refusals in a row that are a finding. */
const refused = 2

const refusals: ReadonlySet<string> = new Set(['auth_failed', 'auth_unavailable', 'auth_needs_tls'])
/** Phases of an attempt after the sign-in. */
const laterPhases: ReadonlySet<string> = new Set(['mail', 'rcpt', 'data', 'body', 'final', 'answer'])
const signedIn: Login = { refusals: 0, code: null, refusedAt: null }

export const isLoginRefused = (login: Login | undefined): login is RefusedLogin => (login?.refusals ?? 0) >= refused
export const isLoginAccepted = (login: Login | undefined): boolean => login?.refusals === 0

/** An attempt that ended before the sign-in changes nothing. */
export function loginAfterAttempt(login: Login | undefined, { error, recipients }: AttemptReport, now: number): Login | undefined {
  if (error && refusals.has(error.code)) return { refusals: (login?.refusals ?? 0) + 1, code: error.code, refusedAt: now }
  const isAnswered = recipients.some(({ reply }) => reply !== undefined)
  return isAnswered || (error && laterPhases.has(error.phase)) ? signedIn : login
}

export function loginAfterProbe(login: Login | undefined, steps: readonly ProbeStep[], now: number): Login | undefined {
  const failed = steps.find(({ ok }) => !ok)
  if (failed?.code !== undefined && refusals.has(failed.code))
    return { refusals: Math.max(refused, login?.refusals ?? 0), code: failed.code, refusedAt: now }
  return steps.length > 0 && !failed ? signedIn : login
}
