/** Composes OpenTelemetry traces: the spans, and their export to the configured collector. */
import { guardedPost } from '../../../protocols/outbound/clients.ts'
import { MessageSpans } from '../../observability/tracing/message-spans.ts'
import { SpanExport } from '../../observability/tracing/span-export.ts'
import type { SpanCore } from '../composed.ts'
import { broke, type Composition } from '../parts.ts'

/** Returns undefined without a collector. */
export function spanCore(composition: Composition): SpanCore | undefined {
  const { get, config, log, metrics, version, replace } = composition
  const { endpoint, headers, sampleRatio, serviceName } = config.otlp
  if (endpoint === null) return undefined
  const clock = get('clock')
  const spanExport = new SpanExport({
    ...{ url: `${endpoint}/v1/traces`, headers: headers ?? {}, resource: { serviceName, version }, clock },
    // no address guard, because only the operator sets the address
    post: guardedPost({ clock, resolver: get('resolver'), guard: replace.guard ?? (() => true) }),
    onError: broke(composition, 'the export of traces'),
    onEnded: (ending, spans) => metrics.spansEnded(ending, spans),
    onAvailable: (isAvailable, reason) =>
      isAvailable
        ? log.info({ endpoint }, 'the collector accepts traces again')
        : log.warn({ endpoint, reason }, 'the collector does not accept traces'),
  })
  return { spanExport, messages: new MessageSpans({ add: (span) => spanExport.add(span), now: () => clock.now(), sampleRatio }) }
}
