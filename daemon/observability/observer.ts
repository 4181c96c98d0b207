/** Converts events to log lines and metrics. The core and the protocols know only the small interfaces it implements. */
import type { AttemptListener } from '#core/delivery/attempt/attempt.ts'
import type { BreakerListener, BreakerView } from '#core/delivery/health/health-registry.ts'
import type { AttemptReport, PeerReply, RecipientVerdict } from '#core/delivery/transport.ts'
import type { Grant } from '#core/oauth/grants/grant.ts'
import type { TokenEvents } from '#core/oauth/endpoints/token-endpoint.ts'
import type { ReportedBounce } from '#core/feedback/suppression/counts.ts'
import type { AttemptRecord } from '#core/trace/attempt-record.ts'
import type { Trace } from '#core/trace/trace.ts'
import type { WebhookAttempted } from '#core/webhooks/sending/attempts.ts'
import type { AdminApiEvents } from '../../admin-api/http/api-events.ts'
import type { FieldAnswered, GraphqlEvents } from '../../admin-api/graphql/graphql-options.ts'
import type { AgentEvents, ToolCall } from '../../admin-api/mcp/tools/tool-calls.ts'
import type { SessionFacts } from '../../protocols/reception/reception-settings.ts'
import type { SubmissionEvents } from '../../protocols/submission/submission-settings.ts'
import { withoutAddresses } from './clean-text.ts'
import type { Decisions } from './decisions.ts'
import type { DefectLog } from './defect-log.ts'
import { FrequentLine } from './frequent-line.ts'
import type { Logger } from './logging.ts'
import type { PartLogs } from './part-logs.ts'
import type { Metrics } from './metrics.ts'
import type { MessageSpans } from './tracing/message-spans.ts'

type Answered = Parameters<AdminApiEvents['answered']>[0]

/** Rounds milliseconds to a tenth. */
const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10

/** True for requests to unknown paths or with a wrong method. Logged at level debug only, because scanners send thousands. */
const isNoise = (operationId: string): boolean => operationId === 'nothingThere' || operationId === 'wrongMethod'

function acceptedFacts({ id, door, outcome, outcomeReason, mailFrom, headerFrom, recipients, subject, destinationId }: Trace) {
  const [first] = recipients
  const others = recipients.length > 1 ? ` (+${String(recipients.length - 1)})` : ''
  const envelope = `${mailFrom || headerFrom} -> ${first?.address ?? ''}${others}`
  return { outcome, envelope, reason: outcomeReason, subject, door, trace_id: id, destination_id: destinationId }
}

const attemptFields = ['trace_id', 'destination_id', 'attempt', 'status', 'milliseconds'] as const
const toolCallFields = ['tool', 'outcome', 'milliseconds', 'organization_id', 'project_id', 'grant_id', 'request_id'] as const

/** Recipients of an attempt with the same failure. */
interface AttemptFailure {
  readonly verdict: RecipientVerdict | undefined
  readonly addresses: readonly string[]
  readonly reply: PeerReply | undefined
  /** The provider's reply, or else the error message, in one line. */
  readonly replyText: string | undefined
}

/** Maximum number of lines for an attempt. The trace has all recipients. */
const maxLines = 20

/** Formats a reply, such as `550 5.1.1`. */
const replyCode = ({ code, enhanced }: Pick<PeerReply, 'code' | 'enhanced'>): string => [code, enhanced].filter(Boolean).join(' ')

/** Groups failed recipients by verdict, domain and reply. An error without recipients is one failure. */
function failuresOf({ recipients, error }: Pick<AttemptReport, 'recipients' | 'error'>): readonly AttemptFailure[] {
  const failures = new Map<string, AttemptFailure & { readonly addresses: string[] }>()
  for (const { address: recipient, verdict, reply } of recipients) {
    if (verdict === 'accepted') continue
    const replyText = (reply?.text ?? error?.message)?.replaceAll(/\s*\n\s*/g, ' ')
    const key = JSON.stringify([verdict, withoutAddresses(recipient), reply && replyCode(reply), replyText && withoutAddresses(replyText)])
    const known = failures.get(key)
    if (known) known.addresses.push(recipient)
    else failures.set(key, { verdict, addresses: [recipient], reply, replyText })
  }
  if (failures.size === 0 && error) return [{ verdict: undefined, addresses: [], reply: undefined, replyText: error.message }]
  return [...failures.values()].slice(0, maxLines)
}

/** Returns the fields of a log line, without addresses. */
const loggedFailure = ({ verdict, addresses, reply, replyText }: AttemptFailure) => ({
  verdict,
  recipient: addresses[0] === undefined ? undefined : withoutAddresses(addresses[0]),
  recipients: addresses.length > 1 ? addresses.length : undefined,
  reply_code: reply?.code,
  enhanced_status: reply?.enhanced,
  reason: replyText === undefined ? undefined : withoutAddresses(replyText),
})

/** Returns the facts for live watchers, who also see the envelope. */
const watchedFailure = ({ verdict, addresses, reply, replyText }: AttemptFailure) => ({
  code: reply && replyCode(reply),
  reason: replyText,
  verdict,
  recipient: addresses.length > 1 ? `${addresses[0] ?? ''} (+${String(addresses.length - 1)})` : addresses[0],
})

/** Prefers the provider's reply to the resulting error, because it says more. */
const withCode = ({ code, ...facts }: ReturnType<typeof watchedFailure>, error: string | undefined) => ({ code: code ?? error, ...facts })

export class Observer
  implements AttemptListener, BreakerListener, SubmissionEvents, AdminApiEvents, AgentEvents, GraphqlEvents, TokenEvents
{
  readonly #delivery: Logger
  readonly #smtp: Logger
  readonly #http: Logger
  readonly #graphql: Logger
  readonly #metrics: Metrics
  readonly #decisions: Decisions
  readonly #defects: DefectLog
  readonly #spans: MessageSpans | undefined
  readonly #acceptedBySmtp: FrequentLine<'trace_id' | 'session' | 'username' | 'milliseconds'>
  readonly #accepted: FrequentLine<'trace_id' | 'door' | 'outcome' | 'project_id' | 'recipients'>
  readonly #attempt: FrequentLine<(typeof attemptFields)[number]>
  readonly #toolCall: FrequentLine<(typeof toolCallFields)[number]>

  /** Without `spans`, no OpenTelemetry traces are created. */
  constructor(logs: Pick<PartLogs, 'of'>, metrics: Metrics, decisions: Decisions, defects: DefectLog, spans?: MessageSpans) {
    this.#defects = defects
    this.#spans = spans
    this.#delivery = logs.of('delivery')
    this.#smtp = logs.of('smtp')
    this.#http = logs.of('http')
    this.#graphql = logs.of('graphql')
    const accepted = ['trace_id', 'door', 'outcome', 'project_id', 'recipients'] as const
    this.#acceptedBySmtp = new FrequentLine(this.#smtp, 'message accepted', ['trace_id', 'session', 'username', 'milliseconds'])
    this.#accepted = new FrequentLine(this.#http, 'message accepted', accepted)
    this.#attempt = new FrequentLine(this.#delivery, 'delivery attempt', attemptFields)
    this.#toolCall = new FrequentLine(logs.of('agents'), 'tool call', toolCallFields)
    this.#metrics = metrics
    this.#decisions = decisions
  }

  attempted(trace: Trace, report: AttemptReport, destinationId: string, dueMs: number): void {
    const { id, status, attempts } = trace
    const { recipients, error, milliseconds } = report
    this.#spans?.attempted(trace, report, destinationId, dueMs)
    for (const { verdict } of recipients) this.#metrics.recipientAttempted(verdict)
    const failures = failuresOf(report)
    const facts = {
      trace_id: id,
      destination_id: destinationId,
      attempt: attempts,
      status,
      milliseconds: tenths(milliseconds['total'] ?? 0),
    }
    if (recipients.some(({ verdict }) => verdict === 'accepted') || failures.length === 0) this.#attempt.write(facts)
    for (const failure of failures)
      this.#delivery.warn({ ...facts, error: error?.code, ...loggedFailure(failure) }, 'delivery attempt failed')
    if (!this.#decisions.isWatched) return
    const where = { trace_id: id, destination_id: destinationId }
    for (const failure of failures)
      this.#decisions.publish('attempt', { status, ...withCode(watchedFailure(failure), error?.code), ...where })
    if (failures.length === 0) this.#decisions.publish('attempt', { status, ...where })
  }

  /** Handles an attempt that a crash interrupted. Its outcome is unknown. */
  interrupted({ id, status }: Trace, { number, destinationId, error }: AttemptRecord): void {
    const where = { trace_id: id, destination_id: destinationId }
    this.#delivery.warn({ ...where, attempt: number, status, error: error?.code, reason: error?.message }, 'delivery attempt failed')
    this.#decisions.publish('attempt', { status, code: error?.code, reason: error?.message, ...where })
  }

  /** Handles a bounce reported after the provider had accepted the message. */
  bounced({ traceId, recipient, bounce, status, smtpCode, diagnostic, reason }: ReportedBounce): void {
    const reply = { code: smtpCode ?? 0, enhanced: status ?? undefined, text: '' }
    const replyText = (diagnostic ?? reason).replaceAll(/\s*\n\s*/g, ' ')
    const failure = { verdict: undefined, addresses: recipient === null ? [] : [recipient], reply, replyText }
    const { reply_code: code, ...facts } = loggedFailure(failure)
    this.#delivery.warn({ trace_id: traceId, bounce, ...(code !== 0 && { reply_code: code }), ...facts }, 'delivery bounced')
    this.#decisions.publish('bounced', { bounce, ...watchedFailure(failure), trace_id: traceId })
  }

  /** Never logs the receiver's answer, which may contain secrets. */
  webhookAttempted(attempted: WebhookAttempted): void {
    const { ending, endpointId, traceId, eventType, attempt, nextAttemptAt, sent } = attempted
    this.#metrics.webhookAttempted(ending)
    this.#spans?.webhookAttempted(attempted)
    if (sent.error === null) return
    this.#delivery.warn(
      {
        ...{ trace_id: traceId, endpoint_id: endpointId, event_type: eventType, host: sent.host, attempt, status: ending },
        ...{ status_code: sent.statusCode, reason: withoutAddresses(sent.error), milliseconds: tenths(sent.milliseconds) },
        next_attempt_at: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
      },
      'webhook attempt failed',
    )
  }

  breakerChanged(destinationId: string, { phase, reason, until }: BreakerView): void {
    this.#metrics.breakerChanged(phase)
    const facts = { destination_id: destinationId, breaker: phase }
    this.#decisions.publish('destination', { ...facts, reason })
    if (phase === 'closed') this.#delivery.info(facts, 'circuit breaker closed')
    else
      this.#delivery.warn(
        {
          ...facts,
          reason: reason === null ? null : withoutAddresses(reason),
          next_trial_at: until === null ? null : new Date(until).toISOString(),
        },
        'circuit breaker opened',
      )
  }

  /** Handles an accepted send of any entry point. The SMTP entry points log it themselves, with the session. */
  sendAccepted(trace: Trace): void {
    const { id, door, outcome, projectId, recipients } = trace
    this.#metrics.messageAccepted(door, outcome)
    this.#spans?.accepted(trace)
    if (this.#decisions.isWatched) this.#decisions.publish('accepted', acceptedFacts(trace))
    if (door === 'smtp') return
    this.#accepted.write({ trace_id: id, door, outcome, project_id: projectId, recipients: recipients.length })
  }

  sessionOpened(): void {
    this.#metrics.smtpSessionOpened('submission')
  }

  sessionClosed({ sessionId, remoteAddress, username }: SessionFacts): void {
    this.#metrics.smtpSessionClosed('submission')
    this.#smtp.debug({ session: sessionId, remote: remoteAddress, username }, 'smtp session closed')
  }

  refused(code: string, { sessionId, remoteAddress, username, triedUsername }: SessionFacts, replyText: string): void {
    this.#metrics.refused('smtp', code)
    const who = triedUsername === undefined ? { username } : { tried_username: triedUsername }
    this.#decisions.publish('refused', { code, reason: replyText, door: 'smtp', remote: remoteAddress, ...who })
    const reason = withoutAddresses(replyText)
    this.#smtp.info({ session: sessionId, remote: remoteAddress, ...who, reply: code, reason }, 'smtp refusal')
  }

  accepted(traceId: string, ms: number, { sessionId, username }: SessionFacts): void {
    this.#metrics.acknowledged('smtp', ms / 1000)
    this.#acceptedBySmtp.write({ trace_id: traceId, session: sessionId, username, milliseconds: tenths(ms) })
  }

  protocolError(error: Error): void {
    this.#smtp.debug({ err: error }, 'smtp connection failed')
  }

  defect(error: unknown, where: SessionFacts): void {
    this.#defects.write(this.#smtp, error, { what: 'an smtp session', place: { session: where.sessionId } })
  }

  answered(answered: Answered): void {
    const { operationId, status, code, reason, durationMs, requestId, organizationId } = answered
    this.#metrics.requestAnswered(operationId, status, durationMs / 1000)
    if (code !== undefined) this.#metrics.refused('rest', code)
    if (code !== undefined && !isNoise(operationId)) {
      const logged = reason === undefined ? undefined : withoutAddresses(reason)
      const facts = { request_id: requestId, operation: operationId, organization_id: organizationId, status, code, reason: logged }
      this.#decisions.publish('refused', { code, reason, door: 'http', operation: operationId })
      this.#http.info({ ...facts, milliseconds: tenths(durationMs) }, 'http refusal')
    } else this.#http.debug({ ...answered, durationMs: tenths(durationMs) }, 'http request')
  }

  /** Never logs arguments, which may contain mail and secrets. */
  toolCalled({ tool, outcome, milliseconds, organizationId, projectId, grantId, requestId }: ToolCall): void {
    this.#metrics.toolCalled(tool, outcome, milliseconds / 1000)
    if (outcome !== 'ok' && outcome !== 'canceled') this.#metrics.refused('mcp', outcome)
    const who = { organization_id: organizationId, project_id: projectId, grant_id: grantId, request_id: requestId }
    this.#toolCall.write({ tool, outcome, milliseconds: tenths(milliseconds), ...who })
  }

  /** Never logs arguments and documents, which may contain mail and secrets. */
  fieldAnswered({ field, outcome, milliseconds, organizationId, projectId, grantId, requestId }: FieldAnswered): void {
    this.#metrics.graphqlFieldAnswered(field, outcome)
    const who = { organization_id: organizationId, project_id: projectId, grant_id: grantId, request_id: requestId }
    const facts = { field, outcome, milliseconds: tenths(milliseconds), ...who }
    if (outcome === 'ok') return this.#graphql.debug(facts, 'graphql field')
    this.#metrics.refused('graphql', outcome)
    this.#decisions.publish('refused', { code: outcome, door: 'graphql', operation: field })
    this.#graphql.info(facts, 'graphql refusal')
  }

  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void {
    const { requestId, operationId } = where
    this.#defects.write(this.#http, error, { what: 'a request', subject: { operation: operationId }, place: { request_id: requestId } })
  }

  tokenReused(what: string, { id }: Grant): void {
    this.#http.warn({ grant_id: id, reused: what }, 'oauth grant revoked: a token was reused')
  }

  connectionDropped(): void {
    this.#http.warn('http connection dropped: too many are open')
  }

  /** Handles a defect of background work, which is retried later. */
  broke(what: string, error: unknown, id = ''): void {
    this.#defects.write(this.#delivery, error, { what, ...(id !== '' && { subject: { id } }) })
  }
}
