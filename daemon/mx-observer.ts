/** Turns what happens at the MX listener into log lines and metrics. */
import type { Reception, MxEvents } from '../protocols/mx/settings.ts'
import type { SessionFacts } from '../protocols/reception/settings.ts'
import type { Logger } from './logging.ts'
import type { Metrics } from './metrics.ts'

export class MxObserver implements MxEvents {
  readonly #log: Logger
  readonly #metrics: Metrics

  constructor(log: Logger, metrics: Metrics) {
    this.#log = log
    this.#metrics = metrics
  }

  sessionOpened(): void {
    this.#metrics.smtpSessionOpened('mx')
  }

  sessionClosed({ sessionId, remoteAddress }: SessionFacts): void {
    this.#metrics.smtpSessionClosed('mx')
    this.#log.debug({ session: sessionId, remote: remoteAddress }, 'mx session closed')
  }

  refused(code: string, { sessionId, remoteAddress }: SessionFacts): void {
    this.#metrics.refused('mx', code)
    this.#log.info({ session: sessionId, remote: remoteAddress, reply: code }, 'mx refusal')
  }

  received({ kind, outcomes, isKept, ms }: Reception, { sessionId, remoteAddress }: SessionFacts): void {
    this.#metrics.acknowledged('mx', ms / 1000)
    const facts = { session: sessionId, remote: remoteAddress, report: kind }
    for (const { traceId, result } of outcomes) this.#log.info({ ...facts, trace_id: traceId, result }, 'report received by mx')
    if (isKept) this.#log.warn(facts, 'mail for the postmaster was put into the folder postmaster of the data folder')
  }

  protocolError(error: Error): void {
    this.#log.debug({ err: error }, 'mx connection failed')
  }

  defect(error: unknown, { sessionId }: SessionFacts): void {
    this.#log.error({ err: error, session: sessionId }, 'unexpected error in an mx session')
  }
}
