/**
 * Counts what happens, for Prometheus. Each method is an event; label values come from closed sets, never from callers. What alarms are
 * made of is there from the start at 0: of a counter that appears with its first event, `increase()` and `rate()` do not see that one.
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
// one by one, as the whole package loads another one for the figures of the process
const Counter = require('prom-client/lib/counter.js') as typeof prom.Counter
const Gauge = require('prom-client/lib/gauge.js') as typeof prom.Gauge
const Histogram = require('prom-client/lib/histogram.js') as typeof prom.Histogram
const Registry = require('prom-client/lib/registry.js') as typeof prom.Registry

const ackBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const httpBuckets = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60]
const groupBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
const eventLoopSampleMs = 50

/** Gauges of the package that are named like counters. Their sums by `type` are in the metrics without `_total`. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** All metrics of one daemon, in a registry of its own. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #accepted = this.#counter('messages_accepted', 'Messages accepted, by door and outcome.', ['door', 'outcome'])
  readonly #refusals = this.#counter('refusals', 'Requests and messages refused, by door and code.', ['door', 'code'])
  readonly #attempts = this.#counter('delivery_attempts', 'Recipients of delivery attempts, by verdict.', ['verdict'], recipientVerdicts)
  readonly #breakers = this.#counter('breaker_changes', 'Circuit breakers of destinations that changed, by new state.', ['state'])
  readonly #sessions = this.#counter('smtp_sessions', 'SMTP sessions opened, by listener.', ['listener'])
  readonly #requests = this.#counter('http_requests', 'HTTP requests answered, by route and status.', ['route', 'status'])
  readonly #polls = this.#counter('mailbox_polls', 'Looks into polled mailboxes, by result.', ['result'])
  readonly #webhooks = this.#counter(
    'webhook_attempts',
    'Attempts to deliver a webhook; a failed one is tried again, a parked one was the last.',
    ['result'],
    attemptEndings,
  )
  readonly #bounces = this.#counter(
    'bounces',
    'Recipients that bounced, by class; refusals for good while handing over are among them.',
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
    'Entries that came on suppression lists, by source.',
    ['source'],
    suppressionSources,
  )
  readonly #certificates = this.#counter(
    'certificate_orders',
    'Certificates ordered from a certificate authority, by result.',
    ['result'],
    ['issued', 'failed'],
  )
  readonly #spans = this.#counter('trace_spans', 'Spans for OpenTelemetry, by their end.', ['result'], spanEndings)
  readonly #rows = this.#counter('store_rows_written', 'Rows of the store that were set or deleted.', [])
  readonly #bytes = this.#counter(
    'store_written_bytes',
    'Octets of these rows, keys and values, message content among them; not what the store writes again when it compacts.',
    [],
  )
  readonly #openSessions: prom.Gauge<'listener'>
  readonly #acknowledgements: prom.Histogram<'door'>
  readonly #answers: prom.Histogram<'route'>
  readonly #groups: prom.Histogram
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

  /** A message was taken; `door` is one of the doors, `outcome` one of the outcomes of a send. */
  messageAccepted(door: string, outcome: string): void {
    this.#accepted.inc({ door, outcome })
  }

  /** Something was refused with a code of the refusal table. */
  refused(door: string, code: string): void {
    this.#refusals.inc({ door, code })
  }

  /** An attempt ended for one recipient. */
  recipientAttempted(verdict: string): void {
    this.#attempts.inc({ verdict })
  }

  /** The breaker of a destination opened, stayed open after a trial, or closed. */
  breakerChanged(state: string): void {
    this.#breakers.inc({ state })
  }

  /** `listener` is the kind: `submission`, `submissions` or `mx`. */
  smtpSessionOpened(listener: string): void {
    this.#sessions.inc({ listener })
    this.#openSessions.inc({ listener })
  }

  smtpSessionClosed(listener: string): void {
    this.#openSessions.dec({ listener })
  }

  /** `result` is `ok`, or what went wrong. */
  mailboxPolled(result: string): void {
    this.#polls.inc({ result })
  }

  /** `route` is the id of the operation, such as `getTrace`, never the path of the request. */
  requestAnswered(route: string, status: number, seconds: number): void {
    this.#requests.inc({ route, status: String(status) })
    this.#answers.observe({ route }, seconds)
  }

  /** `outcome` is `ok`, or the code of the refusal. */
  graphqlFieldAnswered(field: string, outcome: string): void {
    this.#graphqlFields.inc({ field, outcome })
  }

  toolCalled(tool: string, outcome: string, seconds: number): void {
    this.#toolCalls.inc({ tool, outcome })
    this.#toolTimes.observe({ tool }, seconds)
  }

  /** `result` is how the attempt ended, one of `attemptEndings`. */
  webhookAttempted(result: string): void {
    this.#webhooks.inc({ result })
  }

  /** `bounceClass` is `hard`, `soft`, `block` or `unclassified`. */
  bounced(bounceClass: string): void {
    this.#bounces.inc({ class: bounceClass })
  }

  certificateOrdered(result: 'issued' | 'failed'): void {
    this.#certificates.inc({ result })
  }

  complained(): void {
    this.#complaints.inc()
  }

  /** `source` is how the entries came about, one of `suppressionSources`. */
  suppressed(source: string, entries: number): void {
    this.#suppressions.inc({ source }, entries)
  }

  /** So many spans were taken by the collector, or dropped. */
  spansEnded(result: SpanEnding, spans: number): void {
    this.#spans.inc({ result }, spans)
  }

  /** What runs here, as the labels of a gauge that is always 1. */
  build(version: string): void {
    const labelNames = ['version', 'node'] as const
    const gauge = new Gauge({ name: 'postern_build_info', help: 'The running version.', labelNames, registers: [this.#registry] })
    gauge.set({ version, node: process.versions.node }, 1)
  }

  /** A group of `writes` was made durable by one sync: so many rows of so many octets, keys and values. */
  groupCommitted({ writes, rows, bytes }: Omit<CommittedGroup, 'milliseconds'>): void {
    this.#groups.observe(writes)
    this.#rows.inc(rows)
    this.#bytes.inc(bytes)
  }

  /** A message was acknowledged `seconds` after its last byte had come. */
  acknowledged(door: string, seconds: number): void {
    this.#acknowledgements.observe({ door }, seconds)
  }

  /** Shows what `read` returns at each scrape. It must not scan. `name` gets the prefix `postern_`. */
  watch(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge: prom.Gauge = new Gauge({
      name: `postern_${name}`,
      help,
      registers: [this.#registry],
      collect: async () => gauge.set(await read()),
    })
  }

  /** Shows as a counter what `read` returns at each scrape: a number that never falls. `name` gets the prefix `postern_` and `_total`. */
  watchTotal(name: string, help: string, read: () => number): void {
    const counter = this.#counter(name, help, [], [], () => {
      counter.reset()
      counter.inc(read())
    })
  }

  /** Shows what `read` returns at each scrape, a line each, and no others. Label values come from closed sets. */
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

  /** Shows processor, memory, event loop and garbage collection of the process from now on, at the latest from the first scrape on. */
  watchProcess(): void {
    if (this.#watchesProcess) return
    this.#watchesProcess = true
    const { collectDefaultMetrics } = require('prom-client') as typeof prom
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
    for (const name of misnamed) this.#registry.removeSingleMetric(name)
  }

  /** The type of what `render` answers. */
  get contentType(): string {
    return this.#registry.contentType
  }

  /** All metrics in the text format of Prometheus. */
  render(): Promise<string> {
    this.watchProcess()
    return this.#registry.metrics()
  }

  /** `known` are all values of the first label. */
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
