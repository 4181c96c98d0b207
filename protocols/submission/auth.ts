/** AUTH (RFC 4954): only where a password may travel, with failures that are slow and few. */
import type { SmtpLogin } from '#core/submission/smtp-door.ts'
import type { SMTPServerSession } from 'smtp-server'
import type { SubmissionContext } from './context.ts'
import { isExpected, NegativeReply } from '../reception/smtp-reply.ts'

const firstDelayMs = 1000
const longestDelayMs = 3000

export class LoginGate {
  readonly #context: SubmissionContext
  readonly #failures = new WeakMap<SMTPServerSession, number>()

  constructor(context: SubmissionContext) {
    this.#context = context
  }

  /** Asks the core. A refusal is answered late; the last one a session is granted ends it with 421. */
  async logIn(session: SMTPServerSession, username: string, password: string): Promise<SmtpLogin> {
    const { door, authFailuresPerSession } = this.#context
    if (!this.#context.mayLogIn(session)) throw new NegativeReply(530, '5.7.0', 'Must issue a STARTTLS command first')
    try {
      return await door.login(username, password, session.remoteAddress)
    } catch (error) {
      if (!isExpected(error)) throw error
      const failures = (this.#failures.get(session) ?? 0) + 1
      this.#failures.set(session, failures)
      await this.#wait(delayOf(failures, Math.random()))
      if (failures >= authFailuresPerSession) throw new NegativeReply(421, '4.7.0', 'Too many failed logins; closing the connection.')
      throw error
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#context.clock.after(ms, resolve))
  }
}

/** Milliseconds before the answer to the nth failure: 1 s for the first, up to 3 s, with jitter. `random` is in [0, 1). */
export const delayOf = (failures: number, random: number): number =>
  Math.min(longestDelayMs, firstDelayMs + (failures - 1) * 750 + random * 500)
