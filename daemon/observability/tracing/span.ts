/** OpenTelemetry spans: steps of a message in the form of OTLP. The trace id is the id of the message. Pure. */
import { createHash, randomBytes } from 'node:crypto'

/** Values of OTLP's `SpanKind`. */
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
  /** Attributes without a value are omitted. */
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>
  /** The problem in one sentence. */
  readonly error?: string | undefined
}

/** Results of a span. */
export const spanEndings = ['exported', 'dropped'] as const
export type SpanEnding = (typeof spanEndings)[number]

/**
 * Returns the id of the root span (the acceptance). It is the parent of all other spans of the message, including spans of other processes
 * and later days.
 */
export const rootSpanId = (traceId: string): string =>
  createHash('sha256').update(`postern root span ${traceId}`).digest('hex').slice(0, 16)

export const newSpanId = (): string => randomBytes(8).toString('hex')

/** The 56 random bits that W3C Trace Context Level 2 uses for sampling. They are also random in a UUIDv4. */
const sampledBits = 2 ** 56

/** Whether a trace belongs to the sampled share. The result is the same in every process. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  ratio >= 1 || Number(`0x${traceId.replaceAll('-', '').slice(-14)}`) < ratio * sampledBits

/** Attributes of all spans of a process. */
export interface SpanResource {
  readonly serviceName: string
  readonly version: string
}

/** Returns the body of an export request in the JSON form of OTLP. */
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

/** JSON has 64-bit numbers as text. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n)

function attributesOf(attributes: Span['attributes']): readonly unknown[] {
  return Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]))
}

function toValue(value: AttributeValue): Readonly<Record<string, unknown>> {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
