/** Handles AUTH (RFC 4954): delays the reply to a failed login and limits failures per session. */
import type { SmtpLogin } from '#core/submission/doors/smtp-door.ts'
import type { SMTPServerAuthentication, SMTPServerSession } from 'smtp-server'
import type { SubmissionContext } from './submission-context.ts'
import { Refusal } from '#core/refusals.ts'
import { isExpected, NegativeReply } from '../reception/smtp-reply.ts'

const firstDelayMs = 1000
const longestDelayMs = 3000

export class LoginGate {
  readonly #context: SubmissionContext
  readonly #failures = new WeakMap<SMTPServerSession, number>()

  constructor(context: SubmissionContext) {
    this.#context = context
  }

  /**
   * Logs in through the core. Refuses an authorization identity other than the user name (RFC 4616 §2). Delays a refusal; the last allowed
   * failure of a session ends it with 421.
   */
  async logIn(session: SMTPServerSession, { username = '', password, authzid = '' }: SMTPServerAuthentication): Promise<SmtpLogin> {
    const { door, authFailuresPerSession } = this.#context
    try {
      if (authzid !== '' && !isSameUser(authzid, username)) throw actsForAnother
      return await door.login(username, password ?? '', session.remoteAddress)
    } catch (error) {
      if (!isExpected(error)) throw error
      const failures = (this.#failures.get(session) ?? 0) + 1
      this.#failures.set(session, failures)
      await this.#wait(delayOf(failures, Math.random()))
      if (failures >= authFailuresPerSession) throw new NegativeReply(421, '4.7.0', 'Too many failed logins; closing the connection.')
      throw isBlocked(error) ? new NegativeReply(454, '4.7.0', error.message) : error
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#context.clock.after(ms, resolve))
  }
}

const isSameUser = (one: string, other: string): boolean => one.trim().toLowerCase() === other.trim().toLowerCase()

const actsForAnother = new NegativeReply(535, '5.7.8', 'This login may not act for another user; leave the authorization identity empty.')

/** Whether the login is blocked for a time: a temporary failure (RFC 4954 §6). */
const isBlocked = (error: unknown): error is Refusal => error instanceof Refusal && error.code === 'rate_limit_exceeded'

/**
 * Returns the delay in milliseconds before the reply to the nth failure: 1 s for the first, at most 3 s, with jitter. `random` is in [0,
 * 1).
 */
export const delayOf = (failures: number, random: number): number =>
  Math.min(longestDelayMs, firstDelayMs + (failures - 1) * 750 + random * 500)
