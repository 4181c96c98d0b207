/**
 * Creates spans of messages: the acceptance, the wait in the queue, each delivery attempt with the provider's reply, each webhook. Like the
 * log, they contain no address of a sender or recipient, no subject and no secret.
 */
import type { AttemptReport } from '#core/delivery/transport.ts'
import type { Trace } from '#core/trace/trace.ts'
import type { WebhookAttempted } from '#core/webhooks/sending/attempts.ts'
import { isSampled, newSpanId, rootSpanId, spanKinds, type Span } from './span.ts'

export interface MessageSpansOptions {
  readonly add: (span: Span) => void
  readonly now: () => number
  /** Share of traced messages, from 0 to 1. */
  readonly sampleRatio: number
}

/** Phases that wait for the reply, by SMTP and by HTTP. */
const replyPhases = ['final', 'answer'] as const

export class MessageSpans {
  readonly #options: MessageSpansOptions

  constructor(options: MessageSpansOptions) {
    this.#options = options
  }

  /** Adds the span of an acceptance that just ended. */
  accepted({ id, createdAt, door, outcome, projectId, recipients, destinationId, content }: Trace): void {
    this.#add({
      ...{ traceId: id, spanId: rootSpanId(id), name: 'message accepted', kind: spanKinds.server },
      ...{ startMs: createdAt, endMs: this.#options.now() },
      attributes: {
        ...{ 'postern.trace_id': id, 'postern.door': door, 'postern.outcome': outcome, 'postern.project_id': projectId },
        ...{ 'postern.destination_id': destinationId ?? undefined, 'postern.recipients': recipients.length, 'postern.bytes': content.size },
      },
    })
  }

  /** Adds the spans of an attempt that just ended. `dueMs`: when it was due. */
  attempted({ id, attempts, status }: Trace, report: AttemptReport, destinationId: string, dueMs: number): void {
    if (!this.#isShown(id)) return
    const { error, milliseconds, recipients, provider, host, port, address, tls, reused } = report
    const endMs = this.#options.now()
    const startMs = endMs - (milliseconds['total'] ?? 0)
    const parentSpanId = rootSpanId(id)
    const attempt = { 'postern.trace_id': id, 'postern.destination_id': destinationId, 'postern.attempt': attempts }
    const queue = { name: 'queue wait', kind: spanKinds.internal, startMs: Math.min(dueMs, startMs), endMs: startMs }
    this.#options.add({ traceId: id, spanId: newSpanId(), parentSpanId, ...queue, attributes: attempt })
    const spanId = newSpanId()
    const refused = recipients.find(({ verdict }) => verdict !== 'accepted')
    this.#options.add({
      ...{ traceId: id, spanId, parentSpanId, name: 'delivery attempt', kind: spanKinds.client, startMs, endMs },
      attributes: {
        ...attempt,
        ...{ 'postern.status': status, 'postern.provider': provider, 'postern.recipients': recipients.length },
        'postern.recipients_accepted': recipients.filter(({ verdict }) => verdict === 'accepted').length,
        ...{ 'server.address': host, 'server.port': port, 'network.peer.address': address },
        ...{ 'tls.protocol.version': tls?.version, 'postern.connection_reused': reused },
        ...{ 'error.type': error?.code, 'postern.error_phase': error?.phase },
        ...phasesOf(milliseconds),
      },
      error: error?.message ?? (refused && `The provider did not accept all recipients (${refused.verdict}).`),
    })
    this.#reply(id, spanId, report, endMs)
  }

  /** Adds the span of a webhook attempt that just ended. */
  webhookAttempted({ traceId, eventType, endpointId, attempt, sent, ending }: WebhookAttempted): void {
    if (traceId === null) return
    this.#add({
      ...{ traceId, spanId: newSpanId(), parentSpanId: rootSpanId(traceId), name: 'webhook delivery', kind: spanKinds.client },
      ...{ startMs: sent.at, endMs: sent.at + sent.milliseconds },
      attributes: {
        ...{ 'postern.trace_id': traceId, 'postern.event_type': eventType, 'postern.webhook_endpoint_id': endpointId },
        ...{ 'postern.attempt': attempt, 'postern.result': ending, 'http.response.status_code': sent.statusCode ?? undefined },
      },
      error: sent.error ?? undefined,
    })
  }

  /** Adds the span from our last octet to the provider's reply. It omits the text, which may name recipients. */
  #reply(traceId: string, parentSpanId: string, { milliseconds, recipients }: AttemptReport, endMs: number): void {
    const waited = replyPhases.map((phase) => milliseconds[phase]).find((ms) => ms !== undefined)
    const reply = recipients.find(({ reply: its }) => its !== undefined)?.reply
    if (waited === undefined && !reply) return
    this.#options.add({
      ...{ traceId, spanId: newSpanId(), parentSpanId, name: 'provider reply', kind: spanKinds.client },
      ...{ startMs: endMs - (waited ?? 0), endMs },
      attributes: { 'postern.trace_id': traceId, 'postern.reply_code': reply?.code, 'postern.reply_status': reply?.enhanced },
    })
  }

  #add(span: Span): void {
    if (this.#isShown(span.traceId)) this.#options.add(span)
  }

  #isShown(traceId: string): boolean {
    return isSampled(traceId, this.#options.sampleRatio)
  }
}

/** Returns the milliseconds of each step, such as `connect`, `tls` and `data`. */
const phasesOf = (milliseconds: AttemptReport['milliseconds']): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(milliseconds).flatMap(([phase, ms]) => (phase === 'total' ? [] : [[`postern.milliseconds.${phase}`, ms]])),
  )
