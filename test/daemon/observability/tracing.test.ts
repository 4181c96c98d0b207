/** OpenTelemetry traces as a collector receives them over HTTP: spans of a message, omitted data, and an unavailable collector. */
import { gunzipSync } from 'node:zlib'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from '#test'
import type { Post } from '#core/outbound/post.ts'
import { exportBody, isSampled, rootSpanId, type Span } from '../../../daemon/observability/tracing/span.ts'
import { SpanExport } from '../../../daemon/observability/tracing/span-export.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { startDaemon } from '../../support/daemon/start-daemon.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { Seeded } from '../../support/seeded.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { listenIn } from '../../support/web/listen.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'

interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
  readonly status: { readonly code?: number; readonly message?: string }
}

/** Parses OTLP/HTTP in JSON and responds with the configured status. */
class Collector {
  readonly spans: WireSpan[] = []
  readonly bodies: string[] = []
  readonly requests: IncomingMessage[] = []
  port = 0

  static async listen(t: ExecutionContext): Promise<Collector> {
    const collector = new Collector()
    collector.port = await listenIn(
      t,
      createServer((request, response) => void collector.#take(request, response)),
    )
    return collector
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = gunzipSync(await buffer(request)).toString('utf8')
    this.requests.push(request)
    this.bodies.push(body)
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: WireSpan[] }[] }[] }
    this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))
    response.setHeader('content-type', 'application/json').end('{}')
  }
}

const valueOf = ({ attributes }: WireSpan, key: string): unknown => Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0]

test('tracing: one trace per message from entry point to webhooks, without addresses', async (t) => {
  const collector = await Collector.listen(t)
  await using sink = await Sink.listen({
    script: { recipient: (address) => (address === 'nobody@inbox.test' ? '550 5.1.1 nobody@inbox.test is unknown' : undefined) },
  })
  await using hook = await new WebhookReceiver().listen()
  const daemon = await startDaemon(t, {
    env: {
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.0/8;webhooks=127.0.0.0/8',
      POSTERN_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}/`,
      POSTERN_OTLP_HEADERS: 'x-key=secret%20key',
    },
  })
  const { rest } = daemon
  await makeRoute(rest, await makeDestination(rest, { name: 'live', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/webhooks', { name: 'all', target_url: hook.url })
  const gone = await makeDestination(rest, { name: 'gone', port: await closedPort(t), mode: 'live' })
  const message = { from: 'shop@site.test', to: ['ann@inbox.test', 'bob@inbox.test'], subject: 'Quarterly secret', text: 'Hello' }
  const sent = String((await rest.must('POST', '/v1/messages', message))['trace_id'])
  const late = String((await rest.must('POST', '/v1/messages', { ...message, destination_id: gone }))['trace_id'])
  const refused = String((await rest.must('POST', '/v1/messages', { ...message, to: ['nobody@inbox.test'] }))['trace_id'])
  await daemon.settled()
  await daemon.stop()
  const [request] = collector.requests
  t.is(request?.url, '/v1/traces')
  t.like(request?.headers, { 'content-type': 'application/json', 'x-key': 'secret key' })
  t.regex(collector.bodies.join(), /"service\.name","value":\{"stringValue":"postern"\}/)
  t.notRegex(collector.bodies.join(), /@|Quarterly|inbox\.test/)

  const of = (id: string): WireSpan[] => collector.spans.filter(({ traceId }) => traceId === id.replaceAll('-', ''))
  const spans = of(sent)
  t.deepEqual(
    spans.map(({ name }) => name),
    ['message accepted', 'queue wait', 'delivery attempt', 'provider reply'],
  )
  const [root, queue, attempt, reply] = spans as [WireSpan, WireSpan, WireSpan, WireSpan]
  t.is(root.spanId, rootSpanId(sent))
  t.is(root.parentSpanId, undefined)
  t.deepEqual([queue.parentSpanId, attempt.parentSpanId, reply.parentSpanId], [root.spanId, root.spanId, attempt.spanId])
  t.true(spans.every(({ startTimeUnixNano, endTimeUnixNano }) => BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano)))
  t.true(BigInt(queue.endTimeUnixNano) <= BigInt(attempt.endTimeUnixNano))
  t.deepEqual([root.kind, queue.kind, attempt.kind], [2, 1, 3])
  t.is(valueOf(root, 'postern.outcome'), 'relayed')
  t.is(valueOf(attempt, 'server.port'), String(sink.port))
  t.is(valueOf(reply, 'postern.reply_code'), '250')
  t.is(attempt.status.code, undefined)

  const failed = of(late).find(({ name }) => name === 'delivery attempt')
  t.is(failed?.status.code, 2)
  t.is(failed && valueOf(failed, 'error.type'), 'connect_refused')
  const [webhook] = of(refused).filter(({ name }) => name === 'webhook delivery')
  t.is(webhook && valueOf(webhook, 'postern.event_type'), 'failed')
  t.is(webhook && valueOf(webhook, 'http.response.status_code'), '204')
  t.is(webhook?.parentSpanId, rootSpanId(refused))
})

test('tracing: an unavailable collector drops and counts spans, with one log line', async (t) => {
  const daemon = await startDaemon(t, {
    env: { POSTERN_OTLP_ENDPOINT: `http://127.0.0.1:${await closedPort(t)}`, POSTERN_SHUTDOWN_SECONDS: '6' },
  })
  const { rest } = daemon
  const send = () => rest.must('POST', '/v1/messages', { from: 'a@site.test', to: ['ann@inbox.test'], subject: 'x', text: 'y' })
  await send()
  await send()
  t.regex((await rest.call('GET', '/metrics')).bytes.toString(), /postern_trace_spans_total\{result="dropped"\} 0/)
  const stopped = daemon.part('spans')?.spanExport.stop(0)
  await daemon.settled()
  await stopped
  t.regex((await rest.call('GET', '/metrics')).bytes.toString(), /postern_trace_spans_total\{result="dropped"\} 2/)
})

const span = (n: number): Span => ({
  ...{
    traceId: '0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0',
    spanId: String(n).padStart(16, '0'),
    name: `span ${n}`,
    kind: 1,
    startMs: 1000.25,
    endMs: 900,
  },
  attributes: { text: 'a', whole: 3, part: 0.5, yes: true, none: undefined },
})

test('tracing: spans are sent in batches, retried if useful, and bounded', async (t) => {
  const clock = new FakeClock()
  const asked: number[] = []
  const answers = [503, 200, 400]
  const counts = { exported: 0, dropped: 0 }
  const said: boolean[] = []
  const post: Post = async ({ body }) => {
    asked.push(
      (JSON.parse(gunzipSync(body).toString()) as { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] }).resourceSpans[0]!
        .scopeSpans[0]!.spans.length,
    )
    return { status: answers.shift() ?? 200, answer: new Uint8Array() }
  }
  const spans = new SpanExport({
    ...{ url: 'http://c.test/v1/traces', headers: {}, resource: { serviceName: 's', version: '1' }, post, clock },
    onError: (error) => t.fail(String(error)),
    onEnded: (ending, n) => (counts[ending] += n),
    onAvailable: (isAvailable) => said.push(isAvailable),
  })
  const settle = async (ms: number): Promise<void> => {
    clock.advance(ms)
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
  spans.add(span(1))
  await settle(4999)
  t.deepEqual(asked, [])
  await settle(1)
  t.deepEqual(asked, [1], 'answered with 503')
  await settle(1000)
  t.deepEqual([asked, counts], [[1, 1], { exported: 1, dropped: 0 }])
  spans.add(span(2))
  await settle(5000)
  t.deepEqual([counts, said], [{ exported: 1, dropped: 1 }, [false]], '400 is not tried again')
  for (let n = 0; n < 5000; n++) spans.add(span(n))
  t.true(counts.dropped > 1 && counts.dropped < 905, `those beyond ${String(counts.dropped)} wait`)
  await spans.stop(1000)
  t.is(counts.exported + counts.dropped, 5002)
  t.deepEqual(said, [false, true])
})

test('OTLP: hexadecimal ids, times as text, and the same sampling in all processes', (t) => {
  const body = JSON.parse(exportBody([span(7)], { serviceName: 'shop', version: '1.2.3' })) as {
    resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[]
  }
  t.like(body.resourceSpans[0]?.scopeSpans[0]?.spans[0], {
    ...{
      traceId: '0f1e2d3c4b5a49788796a5b4c3d2e1f0',
      spanId: '0000000000000007',
      startTimeUnixNano: '1000250000',
      endTimeUnixNano: '1000250000',
    },
    attributes: [
      { key: 'text', value: { stringValue: 'a' } },
      { key: 'whole', value: { intValue: '3' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'yes', value: { boolValue: true } },
    ],
  })
  const random = new Seeded('sampled traces')
  const ids = Array.from({ length: 2000 }, () =>
    random
      .bytes(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  )
  const sampled = ids.filter((id) => isSampled(id, 0.25))
  t.true(sampled.length > 350 && sampled.length < 650, String(sampled.length))
  t.true(sampled.every((id) => isSampled(id, 0.5)))
  t.deepEqual([ids.filter((id) => isSampled(id, 0)), ids.filter((id) => !isSampled(id, 1))], [[], []])
})
