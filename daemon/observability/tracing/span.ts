/** Spans of OpenTelemetry: one piece of what happens to a message, as OTLP carries it. The trace id is that of the message. Pure. */
import { createHash, randomBytes } from 'node:crypto'

/** The numbers of OTLP's `SpanKind`. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const

export type AttributeValue = string | number | boolean

export interface Span {
  /** UUID of the message. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  readonly name: string
  readonly kind: (typeof spanKinds)[keyof typeof spanKinds]
  /** Milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  /** Those without a value are left out. */
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>
  /** What went wrong, in one sentence. */
  readonly error?: string | undefined
}

/** How spans end. */
export const spanEndings = ['exported', 'dropped'] as const
export type SpanEnding = (typeof spanEndings)[number]

/** The span of the acceptance, under which all others of the message are, also those of another process and of later days. */
export const rootSpanId = (traceId: string): string =>
  createHash('sha256').update(`postern root span ${traceId}`).digest('hex').slice(0, 16)

export const newSpanId = (): string => randomBytes(8).toString('hex')

/** The 56 random bits that W3C Trace Context Level 2 samples by; they are random in a UUIDv4 too. */
const sampledBits = 2 ** 56

/** Whether this share of all traces has this one; the same in every process. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || Number(`0x${traceId.replaceAll('-', '').slice(-14)}`) < ratio * sampledBits

/** What all spans of a process have in common. */
export interface SpanResource {
  readonly serviceName: string
  readonly version: string
}

/** The body of an export request, as OTLP writes it in JSON. */
export function exportBody(spans: readonly Span[], { serviceName, version }: SpanResource): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) },
        scopeSpans: [{ scope: { name: 'postern', version }, spans: spans.map(toWire) }],
      },
    ],
  })
}

/** `STATUS_CODE_ERROR` of OTLP. */
const failed = 2

function toWire({ traceId, spanId, parentSpanId, name, kind, startMs, endMs, attributes, error }: Span): Readonly<Record<string, unknown>> {
  return {
    traceId: traceId.replaceAll('-', ''),
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...{ name, kind, startTimeUnixNano: nanoseconds(startMs), endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)) },
    attributes: attributesOf(attributes),
    status: error === undefined ? {} : { code: failed, message: error },
  }
}

/** Numbers of 64 bits are text in JSON. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)

function attributesOf(attributes: Span['attributes']): readonly unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]))
}

function toValue(value: AttributeValue): Readonly<Record<string, unknown>> {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
