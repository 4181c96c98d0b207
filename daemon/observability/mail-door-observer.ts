/** Converts events of the MX listener and of polled mailboxes to log lines and metrics. */
import type { PollEvents } from '../../protocols/imap-dsn/poller.ts'
import type { PollProblem } from '../../protocols/imap-dsn/poll-failure.ts'
import type { RoundResult } from '../../protocols/imap-dsn/mailbox-poll.ts'
import type { Reception, MxEvents } from '../../protocols/mx/mx-settings.ts'
import type { SessionFacts } from '../../protocols/reception/reception-settings.ts'
import { withoutAddresses } from './clean-text.ts'
import type { DefectLog } from './defect-log.ts'
import type { Logger } from './logging.ts'
import type { PartLogs } from './part-logs.ts'
import type { Metrics } from './metrics.ts'

export class MailDoorObserver implements MxEvents, PollEvents {
  readonly #log: Logger
  readonly #mailboxes: Logger
  readonly #metrics: Metrics
  readonly #defects: DefectLog

  constructor(logs: Pick<PartLogs, 'of'>, metrics: Metrics, defects: DefectLog) {
    this.#log = logs.of('mx')
    this.#mailboxes = logs.of('mailboxes')
    this.#metrics = metrics
    this.#defects = defects
  }

  sessionOpened(): void {
    this.#metrics.smtpSessionOpened('mx')
  }

  sessionClosed({ sessionId, remoteAddress }: SessionFacts): void {
    this.#metrics.smtpSessionClosed('mx')
    this.#log.debug({ session: sessionId, remote: remoteAddress }, 'mx session closed')
  }

  refused(code: string, { sessionId, remoteAddress }: SessionFacts, text: string): void {
    this.#metrics.refused('mx', code)
    const reason = withoutAddresses(text)
    this.#log.info({ session: sessionId, remote: remoteAddress, reply: code, reason }, 'mx refusal')
  }

  received({ kind, outcomes, routed, isKept, testId, ms }: Reception, { sessionId, remoteAddress }: SessionFacts): void {
    this.#metrics.acknowledged('mx', ms / 1000)
    const facts = { session: sessionId, remote: remoteAddress, report: kind }
    for (const { traceId, result } of outcomes) this.#log.info({ ...facts, trace_id: traceId, result }, 'report received by mx')
    if (testId !== null)
      this.#log.info({ session: sessionId, remote: remoteAddress, inspect_id: testId }, 'mail for a deliverability test received')
    for (const id of routed) this.#log.info({ ...facts, inbound_message_id: id }, 'mail received for an inbound route')
    if (isKept) this.#log.warn(facts, 'mail for the postmaster stored in the folder postmaster of the data folder')
  }

  protocolError(error: Error): void {
    this.#log.debug({ err: error }, 'mx connection failed')
  }

  polled(sourceId: string, { mails, reports, skipped }: RoundResult): void {
    this.#metrics.mailboxPolled('ok')
    const facts = { source_id: sourceId, mails, reports, skipped }
    if (skipped > 0) this.#mailboxes.warn(facts, 'skipped unreadable mails of a mailbox')
    else if (mails > 0) this.#mailboxes.info(facts, 'processed mails of a mailbox')
  }

  failed(sourceId: string, problem: PollProblem, reason: string): void {
    this.#metrics.mailboxPolled(problem)
    this.#mailboxes.warn({ source_id: sourceId, problem, reason: withoutAddresses(reason) }, 'mailbox poll failed')
  }

  /** `where`: a session, or the id of an ingest source or of a deliverability test. */
  defect(error: unknown, where: SessionFacts | string): void {
    const what = 'an mx session'
    if (typeof where === 'string') this.#defects.write(this.#log, error, { what, subject: { id: where } })
    else this.#defects.write(this.#log, error, { what, place: { session: where.sessionId } })
  }
}
