/** Turns what happens into log lines and metrics; the core and the protocols only know the small interfaces it implements. */
import type { AttemptListener } from '#core/delivery/attempt/attempt.ts'
import type { BreakerListener, BreakerView } from '#core/delivery/health/health-registry.ts'
import type { AttemptReport } from '#core/delivery/transport.ts'
import type { Grant } from '#core/oauth/grants/grant.ts'
import type { TokenEvents } from '#core/oauth/endpoints/token-endpoint.ts'
import type { Trace } from '#core/trace/trace.ts'
import type { AdminApiEvents } from '../../admin-api/http/api-events.ts'
import type { FieldAnswered, GraphqlEvents } from '../../admin-api/graphql/graphql-options.ts'
import type { AgentEvents, ToolCall } from '../../admin-api/mcp/tools/tool-calls.ts'
import type { SessionFacts } from '../../protocols/reception/reception-settings.ts'
import type { SubmissionEvents } from '../../protocols/submission/submission-settings.ts'
import type { Decisions } from './decisions.ts'
import { FrequentLine } from './frequent-line.ts'
import type { Logger } from './logging.ts'
import type { Metrics } from './metrics.ts'

type Answered = Parameters<AdminApiEvents['answered']>[0]

/** Milliseconds as they are worth reading: to a tenth. */
const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10

/** Addresses where nothing is: scanners ask for thousands of them. */
const isNoise = (operationId: string): boolean => operationId === 'nothingThere' || operationId === 'wrongMethod'

function acceptedFacts({ id, door, outcome, outcomeReason, mailFrom, headerFrom, recipients, subject, destinationId }: Trace) {
  const [first] = recipients
  const others = recipients.length > 1 ? ` (+${String(recipients.length - 1)})` : ''
  const envelope = `${mailFrom || headerFrom} -> ${first?.address ?? ''}${others}`
  return { outcome, envelope, reason: outcomeReason, subject, door, trace_id: id, destination_id: destinationId }
}

const toolCallFields = ['tool', 'outcome', 'milliseconds', 'organization_id', 'project_id', 'grant_id', 'request_id'] as const

export class Observer
  implements AttemptListener, BreakerListener, SubmissionEvents, AdminApiEvents, AgentEvents, GraphqlEvents, TokenEvents
{
  readonly #log: Logger
  readonly #metrics: Metrics
  readonly #decisions: Decisions
  readonly #acceptedBySmtp: FrequentLine<'trace_id' | 'session' | 'username' | 'milliseconds'>
  readonly #accepted: FrequentLine<'trace_id' | 'door' | 'outcome' | 'project_id' | 'recipients'>
  readonly #attempt: FrequentLine<'trace_id' | 'destination_id' | 'attempt' | 'status' | 'milliseconds'>
  readonly #toolCall: FrequentLine<(typeof toolCallFields)[number]>

  constructor(log: Logger, metrics: Metrics, decisions: Decisions) {
    this.#log = log
    this.#acceptedBySmtp = new FrequentLine(log, 'message accepted', ['trace_id', 'session', 'username', 'milliseconds'])
    this.#accepted = new FrequentLine(log, 'message accepted', ['trace_id', 'door', 'outcome', 'project_id', 'recipients'])
    this.#attempt = new FrequentLine(log, 'delivery attempt', ['trace_id', 'destination_id', 'attempt', 'status', 'milliseconds'])
    this.#toolCall = new FrequentLine(log, 'tool call', toolCallFields)
    this.#metrics = metrics
    this.#decisions = decisions
  }

  attempted({ id, status, attempts }: Trace, { recipients, error, milliseconds }: AttemptReport, destinationId: string): void {
    for (const { verdict } of recipients) this.#metrics.recipientAttempted(verdict)
    const facts = {
      trace_id: id,
      destination_id: destinationId,
      attempt: attempts,
      status,
      milliseconds: tenths(milliseconds['total'] ?? 0),
    }
    if (this.#decisions.isWatched)
      this.#decisions.publish('attempt', { status, code: error?.code, reason: error?.message, trace_id: id, destination_id: destinationId })
    if (error) this.#log.warn({ ...facts, error: error.code, reason: error.message }, 'delivery attempt failed')
    else this.#attempt.write(facts)
  }

  breakerChanged(destinationId: string, { phase, reason, until }: BreakerView): void {
    this.#metrics.breakerChanged(phase)
    const facts = { destination_id: destinationId, breaker: phase }
    this.#decisions.publish('destination', { ...facts, reason })
    if (phase === 'closed') this.#log.info(facts, 'circuit breaker closed')
    else
      this.#log.warn({ ...facts, reason, next_trial_at: until === null ? null : new Date(until).toISOString() }, 'circuit breaker opened')
  }

  /** A send was accepted at any door. The SMTP doors log it themselves, with their session. */
  sendAccepted(trace: Trace): void {
    const { id, door, outcome, projectId, recipients } = trace
    this.#metrics.messageAccepted(door, outcome)
    if (this.#decisions.isWatched) this.#decisions.publish('accepted', acceptedFacts(trace))
    if (door === 'smtp') return
    this.#accepted.write({ trace_id: id, door, outcome, project_id: projectId, recipients: recipients.length })
  }

  sessionOpened(): void {
    this.#metrics.smtpSessionOpened('submission')
  }

  sessionClosed({ sessionId, remoteAddress, username }: SessionFacts): void {
    this.#metrics.smtpSessionClosed('submission')
    this.#log.debug({ session: sessionId, remote: remoteAddress, username }, 'smtp session closed')
  }

  refused(code: string, { sessionId, remoteAddress, username, triedUsername }: SessionFacts): void {
    this.#metrics.refused('smtp', code)
    const who = triedUsername === undefined ? { username } : { tried_username: triedUsername }
    this.#decisions.publish('refused', { code, door: 'smtp', remote: remoteAddress, ...who })
    this.#log.info({ session: sessionId, remote: remoteAddress, ...who, reply: code }, 'smtp refusal')
  }

  accepted(traceId: string, ms: number, { sessionId, username }: SessionFacts): void {
    this.#metrics.acknowledged('smtp', ms / 1000)
    this.#acceptedBySmtp.write({ trace_id: traceId, session: sessionId, username, milliseconds: tenths(ms) })
  }

  protocolError(error: Error): void {
    this.#log.debug({ err: error }, 'smtp connection failed')
  }

  defect(error: unknown, where: SessionFacts): void {
    this.#log.error({ err: error, session: where.sessionId }, 'unexpected error in an smtp session')
  }

  answered(answered: Answered): void {
    const { operationId, status, code, reason, durationMs, requestId, organizationId } = answered
    this.#metrics.requestAnswered(operationId, status, durationMs / 1000)
    if (code !== undefined) this.#metrics.refused('rest', code)
    if (code !== undefined && !isNoise(operationId)) {
      const facts = { request_id: requestId, operation: operationId, organization_id: organizationId, status, code, reason }
      this.#decisions.publish('refused', { code, reason, door: 'http', operation: operationId })
      this.#log.info({ ...facts, milliseconds: tenths(durationMs) }, 'http refusal')
    } else this.#log.debug({ ...answered, durationMs: tenths(durationMs) }, 'http request')
  }

  /** The arguments of a call may hold mail and secrets, and are never logged. */
  toolCalled({ tool, outcome, milliseconds, organizationId, projectId, grantId, requestId }: ToolCall): void {
    this.#metrics.toolCalled(tool, outcome, milliseconds / 1000)
    if (outcome !== 'ok' && outcome !== 'canceled') this.#metrics.refused('mcp', outcome)
    const who = { organization_id: organizationId, project_id: projectId, grant_id: grantId, request_id: requestId }
    this.#toolCall.write({ tool, outcome, milliseconds: tenths(milliseconds), ...who })
  }

  /** Arguments and documents may hold mail and secrets, and are never logged. */
  fieldAnswered({ field, outcome, milliseconds, organizationId, projectId, grantId, requestId }: FieldAnswered): void {
    this.#metrics.graphqlFieldAnswered(field, outcome)
    const who = { organization_id: organizationId, project_id: projectId, grant_id: grantId, request_id: requestId }
    const facts = { field, outcome, milliseconds: tenths(milliseconds), ...who }
    if (outcome === 'ok') return this.#log.debug(facts, 'graphql field')
    this.#metrics.refused('graphql', outcome)
    this.#decisions.publish('refused', { code: outcome, door: 'graphql', operation: field })
    this.#log.info(facts, 'graphql refusal')
  }

  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void {
    this.#log.error({ err: error, request_id: where.requestId, operation: where.operationId }, 'unexpected error in a request')
  }

  tokenReused(what: string, { id }: Grant): void {
    this.#log.warn({ grant_id: id, reused: what }, 'oauth grant revoked: one of its tokens was reused')
  }

  connectionDropped(): void {
    this.#log.warn('http connection dropped: too many are open')
  }

  /** A defect of background work; what it was about is tried again later. */
  broke(what: string, error: unknown, id = ''): void {
    this.#log.error({ err: error, id }, `unexpected error in ${what}`)
  }
}
