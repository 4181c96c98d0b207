/** The SMTP submission server (RFC 6409): listeners with STARTTLS and inside TLS in front of the core's `SmtpDoor`. */
import { LoginGate } from './auth.ts'
import { SubmissionContext } from './context.ts'
import { SubmissionListener } from './listener.ts'
import type { ListenAddress, SubmissionOptions } from './settings.ts'

/** The real addresses, in the order of the options. */
export interface SubmissionAddresses {
  readonly submission: readonly ListenAddress[]
  readonly submissions: readonly ListenAddress[]
}

export class SubmissionServer {
  readonly #options: SubmissionOptions
  readonly #context: SubmissionContext
  readonly #gate: LoginGate
  readonly #listeners: SubmissionListener[] = []

  constructor(options: SubmissionOptions) {
    this.#options = options
    this.#context = new SubmissionContext(options)
    this.#gate = new LoginGate(this.#context)
  }

  /** Starts every listener; when one cannot start, none stays open. */
  async listen(): Promise<SubmissionAddresses> {
    const { listen, tlsListen } = this.#options
    try {
      const submission = await this.#openAll(listen, false)
      const submissions = await this.#openAll(tlsListen, true)
      return { submission, submissions }
    } catch (error) {
      await this.close(0)
      throw error
    }
  }

  /**
   * Takes no more connections and tells every session 421; a message that is on its way in may finish and gets its reply.
   * After `deadlineMs` milliseconds what is left is cut. Resolves when everything is closed.
   */
  async close(deadlineMs: number): Promise<void> {
    const listeners = this.#listeners.splice(0)
    const drained = Promise.all(listeners.map((listener) => listener.drain()))
    const cut = (): void => listeners.forEach((listener) => listener.destroyAll())
    const timer = this.#context.clock.after(deadlineMs, cut)
    await drained
    timer.cancel()
  }

  async #openAll(addresses: readonly ListenAddress[], insideTls: boolean): Promise<ListenAddress[]> {
    const opened: ListenAddress[] = []
    for (const { host, port } of addresses) {
      const listener = new SubmissionListener(this.#context, this.#gate, this.#options, insideTls)
      await listener.open({ host, port })
      this.#listeners.push(listener)
      const address = listener.server.address()
      opened.push(typeof address === 'object' && address ? { host: address.address, port: address.port } : { host, port })
    }
    return opened
  }
}
