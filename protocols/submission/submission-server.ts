/** SMTP submission server (RFC 6409): listeners with STARTTLS and with implicit TLS. It calls the core through `SmtpDoor`. */
import { Listeners } from '../reception/listeners.ts'
import type { ListenAddress } from '../reception/reception-settings.ts'
import { LoginGate } from './auth.ts'
import { SubmissionContext } from './submission-context.ts'
import { SubmissionListener } from './submission-listener.ts'
import type { SubmissionOptions } from './submission-settings.ts'

/** The bound addresses, in the order of the options. */
export interface SubmissionAddresses {
  readonly submission: readonly ListenAddress[]
  readonly submissions: readonly ListenAddress[]
}

export class SubmissionServer {
  readonly #options: SubmissionOptions
  readonly #listeners: Listeners

  constructor(options: SubmissionOptions) {
    this.#options = options
    this.#listeners = new Listeners(options.clock)
  }

  /** Starts all listeners. If a listener fails to start, closes the others and throws. */
  async listen(): Promise<SubmissionAddresses> {
    const { listen, tlsListen } = this.#options
    const context = new SubmissionContext(this.#options)
    const gate = new LoginGate(context)
    try {
      const submission = await this.#listeners.openAll(listen, (at) => new SubmissionListener(context, gate, this.#options, at, false))
      const submissions = await this.#listeners.openAll(tlsListen, (at) => new SubmissionListener(context, gate, this.#options, at, true))
      return { submission, submissions }
    } catch (error) {
      await this.close(0)
      throw error
    }
  }

  /** See `Listeners.close`. */
  close(deadlineMs: number): Promise<void> {
    return this.#listeners.close(deadlineMs)
  }
}
