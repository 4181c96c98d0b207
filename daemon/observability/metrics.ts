/**
 * Prometheus metrics. Each method is an event. Label values come from fixed sets, never from callers. Counters used in alerts exist from
 * the start with 0, because `increase()` and `rate()` miss the first event of a new counter.
 */
import { createRequire } from 'node:module'
import type * as prom from 'prom-client'
import { bounceClasses } from '#core/feedback/event.ts'
import { suppressionSources } from '#core/feedback/suppression/suppression.ts'
import { recipientVerdicts } from '#core/trace/attempt-record.ts'
import { attemptEndings } from '#core/webhooks/delivery.ts'
import type { CommittedGroup } from '#store/engine/group-commit.ts'
import { spanEndings, type SpanEnding } from './tracing/span.ts'

const require = createRequire(import.meta.url)
// separate imports, because the whole package loads another package for process metrics
const Counter = require('prom-client/lib/counter.js') as typeof prom.Counter
const Gauge = require('prom-client/lib/gauge.js') as typeof prom.Gauge
const Histogram = require('prom-client/lib/histogram.js') as typeof prom.Histogram
const Registry = require('prom-client/lib/registry.js') as typeof prom.Registry

const ackBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const httpBuckets = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]
const alertBuckets = [30, 60, 90, 300, 600, 3600, 86_400]
const groupBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
const eventLoopSampleMs = 50

/** Gauges of the package with counter names. The metrics without `_total` have their sums by `type`. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** All metrics of a daemon, in a separate registry. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #accepted = this.#counter('messages_accepted', 'Messages accepted, by door and outcome.', ['door', 'outcome'])
  readonly #refusals = this.#counter('refusals', 'Requests and messages refused, by door and code.', ['door', 'code'])
  readonly #attempts = this.#counter('delivery_attempts', 'Recipients of delivery attempts, by verdict.', ['verdict'], recipientVerdicts)
  readonly #breakers = this.#counter('breaker_changes', 'State changes of circuit breakers of destinations, by new state.', ['state'])
  readonly #sessions = this.#counter('smtp_sessions', 'SMTP sessions opened, by listener.', ['listener'])
  readonly #requests = this.#counter('http_requests', 'HTTP requests answered, by route and status.', ['route', 'status'])
  readonly #polls = this.#counter('mailbox_polls', 'Polls of mailboxes, by result.', ['result'])
  readonly #webhooks = this.#counter(
    'webhook_attempts',
    'Webhook delivery attempts, by result. A failed attempt is retried; a parked attempt was the last.',
    ['result'],
    attemptEndings,
  )
  readonly #alerts = this.#counter('alerts', 'Alerts, by kind of channel and result. failing: alerts of the channel do not arrive.', [
    'kind',
    'result',
  ])
  readonly #bounces = this.#counter(
    'bounces',
    'Bounced recipients, by class, including permanent refusals during delivery.',
    ['class'],
    [...bounceClasses, 'unclassified'],
  )
  readonly #graphqlFields = this.#counter('graphql_fields', 'Fields of GraphQL queries and mutations, by field and outcome.', [
    'field',
    'outcome',
  ])
  readonly #toolCalls = this.#counter('agent_tool_calls', 'Calls of agent tools, by tool and outcome.', ['tool', 'outcome'])
  readonly #complaints = this.#counter('complaints', 'Complaints of recipients.', [])
  readonly #suppressions = this.#counter(
    'suppressions_added',
    'Entries added to suppression lists, by source.',
    ['source'],
    suppressionSources,
  )
  readonly #certificates = this.#counter(
    'certificate_orders',
    'Certificates ordered from a certificate authority, by result.',
    ['result'],
    ['issued', 'failed'],
  )
  readonly #spans = this.#counter('trace_spans', 'OpenTelemetry spans, by result.', ['result'], spanEndings)
  readonly #rows = this.#counter('store_rows_written', 'Rows of the store that were set or deleted.', [])
  readonly #bytes = this.#counter(
    'store_written_bytes',
    'Octets of written rows (keys and values, including message content), without rewrites by compaction.',
    [],
  )
  readonly #openSessions: prom.Gauge<'listener'>
  readonly #acknowledgements: prom.Histogram<'door'>
  readonly #answers: prom.Histogram<'route'>
  readonly #groups: prom.Histogram
  readonly #alertDelays: prom.Histogram
  readonly #toolTimes: prom.Histogram<'tool'>
  #watchesProcess = false

  constructor() {
    const registers = [this.#registry]
    this.#openSessions = new Gauge({
      name: 'postern_smtp_sessions_open',
      help: 'SMTP sessions open now, by listener.',
      labelNames: ['listener'],
      registers,
    })
    this.#acknowledgements = new Histogram({
      name: 'postern_acknowledgement_seconds',
      help: 'Time from the last byte of a message to its acknowledgement, by door.',
      labelNames: ['door'],
      buckets: ackBuckets,
      registers,
    })
    this.#answers = new Histogram({
      name: 'postern_http_request_seconds',
      help: 'Time from the head of an HTTP request to its answer, by route.',
      labelNames: ['route'],
      buckets: httpBuckets,
      registers,
    })
    this.#alertDelays = new Histogram({
      name: 'postern_alert_delay_seconds',
      help: 'Time from the opening of a finding to its alert.',
      buckets: alertBuckets,
      registers,
    })
    this.#toolTimes = new Histogram({
      name: 'postern_agent_tool_seconds',
      help: 'Time from the call of an agent tool to its result, by tool.',
      labelNames: ['tool'],
      buckets: httpBuckets,
      registers,
    })
    this.#groups = new Histogram({
      name: 'postern_commit_group_writes',
      help: 'Writes that shared one disk sync.',
      buckets: groupBuckets,
      registers,
    })
  }

  /** Counts an accepted message, by door and outcome of the send. */
  messageAccepted(door: string, outcome: string): void {
    this.#accepted.inc({ door, outcome })
  }

  /** Counts a refusal, by door and code of the refusal table. */
  refused(door: string, code: string): void {
    this.#refusals.inc({ door, code })
  }

  /** Counts a finished attempt for a recipient. */
  recipientAttempted(verdict: string): void {
    this.#attempts.inc({ verdict })
  }

  /** Counts a state change of a breaker: opened, stayed open after a trial, or closed. */
  breakerChanged(state: string): void {
    this.#breakers.inc({ state })
  }

  /** `listener`: `submission`, `submissions` or `mx`. */
  smtpSessionOpened(listener: string): void {
    this.#sessions.inc({ listener })
    this.#openSessions.inc({ listener })
  }

  smtpSessionClosed(listener: string): void {
    this.#openSessions.dec({ listener })
  }

  /** `result`: `ok` or the problem. */
  mailboxPolled(result: string): void {
    this.#polls.inc({ result })
  }

  /** `route`: the id of the operation, such as `getTrace`, never the path of the request. */
  requestAnswered(route: string, status: number, seconds: number): void {
    this.#requests.inc({ route, status: String(status) })
    this.#answers.observe({ route }, seconds)
  }

  /** `outcome`: `ok` or the code of the refusal. */
  graphqlFieldAnswered(field: string, outcome: string): void {
    this.#graphqlFields.inc({ field, outcome })
  }

  toolCalled(tool: string, outcome: string, seconds: number): void {
    this.#toolCalls.inc({ tool, outcome })
    this.#toolTimes.observe({ tool }, seconds)
  }

  /** `result`: a value of `attemptEndings`. */
  webhookAttempted(result: string): void {
    this.#webhooks.inc({ result })
  }

  /** Counts an alert by kind of channel, and records the time since its newest finding opened. */
  alertWritten(kind: string, result: string, delayMs: number | undefined): void {
    this.#alerts.inc({ kind, result })
    if (delayMs !== undefined) this.#alertDelays.observe(delayMs / 1000)
  }

  /** `bounceClass`: `hard`, `soft`, `block` or `unclassified`. */
  bounced(bounceClass: string): void {
    this.#bounces.inc({ class: bounceClass })
  }

  certificateOrdered(result: 'issued' | 'failed'): void {
    this.#certificates.inc({ result })
  }

  complained(): void {
    this.#complaints.inc()
  }

  /** `source`: a value of `suppressionSources`. */
  suppressed(source: string, entries: number): void {
    this.#suppressions.inc({ source }, entries)
  }

  /** Counts spans that the collector accepted, or that were dropped. */
  spansEnded(result: SpanEnding, spans: number): void {
    this.#spans.inc({ result }, spans)
  }

  /** Sets the gauge for the running version, which is always 1. */
  build(version: string): void {
    const labelNames = ['version', 'node'] as const
    const gauge = new Gauge({ name: 'postern_build_info', help: 'The running version.', labelNames, registers: [this.#registry] })
    gauge.set({ version, node: process.versions.node }, 1)
  }

  /** Counts a group of writes with one sync, and its rows and octets (keys and values). */
  groupCommitted({ writes, rows, bytes }: Omit<CommittedGroup, 'milliseconds'>): void {
    this.#groups.observe(writes)
    this.#rows.inc(rows)
    this.#bytes.inc(bytes)
  }

  /** Records the seconds from the last byte of a message to its acknowledgement. */
  acknowledged(door: string, seconds: number): void {
    this.#acknowledgements.observe({ door }, seconds)
  }

  /** Adds a gauge with the value of `read` at each scrape. `read` must not scan. `name` gets the prefix `postern_`. */
  watch(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: prom.Gauge = new Gauge({
      name: `postern_${name}`,
      help,
      registers: [this.#registry],
      collect: async () => gauge.set(await read()),
    })
  }

  /**
   * Adds a counter with the value of `read` at each scrape, which must never decrease. `name` gets the prefix `postern_` and the suffix
   * `_total`.
   */
  watchTotal(name: string, help: string, read: () => number): void {
    const counter = this.#counter(name, help, [], [], () => {
      counter.reset()
      counter.inc(read())
    })
  }

  /** Adds a gauge with a sample for each value of `read` at each scrape. Label values come from fixed sets. */
  watchEach<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read: () => readonly { readonly labels: Readonly<Record<Label, string>>; readonly value: number }[],
  ): void {
    const gauge: prom.Gauge<Label> = new Gauge({
      name: `postern_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        gauge.reset()
        for (const { labels, value } of read()) gauge.set(labels as prom.LabelValues<Label>, value)
      },
    })
  }

  /** Adds metrics of the processor, memory, event loop and garbage collection. Called at the first scrape at the latest. */
  watchProcess(): void {
    if (this.#watchesProcess) return
    this.#watchesProcess = true
    const { collectDefaultMetrics } = require('prom-client') as typeof prom
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
    for (const name of misnamed) this.#registry.removeSingleMetric(name)
  }

  /** Content type of `render`. */
  get contentType(): string {
    return this.#registry.contentType
  }

  /** Returns all metrics in the Prometheus text format. */
  render(): Promise<string> {
    this.watchProcess()
    return this.#registry.metrics()
  }

  /** `known`: all values of the first label. */
  #counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    known: readonly string[] = [],
    collect?: () => void,
  ): prom.Counter<Label> {
    const counter = new Counter({
      name: `postern_${name}_total`,
      help,
      labelNames,
      registers: [this.#registry],
      ...(collect && { collect }),
    })
    const [label] = labelNames
    if (label !== undefined) for (const value of known) counter.labels(value).inc(0)
    return counter
  }
}
