/** Transport for all targets. Delegates to the SMTP transport or the HTTP transport. */
import type { AttemptReport, DeliveryJob, HttpTarget, ProbeStep, SmtpTarget, Transport, TransportTarget } from '#core/delivery/transport.ts'

export class RelayTransport implements Transport {
  readonly #smtp: Transport<SmtpTarget>
  readonly #http: Transport<HttpTarget>

  constructor(smtp: Transport<SmtpTarget>, http: Transport<HttpTarget>) {
    this.#smtp = smtp
    this.#http = http
  }

  deliver(target: TransportTarget, job: DeliveryJob): Promise<AttemptReport> {
    return target.provider === 'smtp' ? this.#smtp.deliver(target, job) : this.#http.deliver(target, job)
  }

  probe(target: TransportTarget, signal: AbortSignal, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]> {
    return target.provider === 'smtp' ? this.#smtp.probe(target, signal, seen) : this.#http.probe(target, signal, seen)
  }

  forget(destinationId: string): void {
    this.#smtp.forget(destinationId)
    this.#http.forget(destinationId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#smtp[Symbol.asyncDispose](), this.#http[Symbol.asyncDispose]()])
  }
}
