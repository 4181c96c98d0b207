/** A transport, a sink and jobs for a test. */
import type { ExecutionContext } from 'ava'
import type { DeliveryJob, SmtpTarget } from '#core/delivery/transport.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { SmtpTransportOptions } from '../../../protocols/relay/smtp/smtp-transport.ts'
import { SmtpTransport } from '../../../protocols/relay/smtp/smtp-transport.ts'
import { authority } from './certificates.ts'
import type { SinkOptions } from '../../support/smtp/sink-script.ts'
import { Sink } from '../../support/smtp/sink.ts'

/** Knows mail.test and localhost, both at 127.0.0.1. */
export const testResolver: Resolver = {
  resolve4: (name) => Promise.resolve(name === 'mail.test' || name === 'localhost' ? ['127.0.0.1'] : []),
  resolve6: () => Promise.resolve([]),
}

/** A transport that may connect to loopback and trusts the test authority. */
export function testTransport(t: ExecutionContext, options: Partial<SmtpTransportOptions> = {}): SmtpTransport {
  const transport = new SmtpTransport({
    resolver: testResolver,
    guard: addressGuard([{ cidr: '127.0.0.1/32' }]),
    heloName: 'postern.test',
    trusted: [authority],
    ...options,
  })
  t.teardown(() => transport[Symbol.asyncDispose]())
  return transport
}

export async function testSink(t: ExecutionContext, options: SinkOptions = {}): Promise<Sink> {
  const sink = await new Sink(options).listen()
  t.teardown(() => sink[Symbol.asyncDispose]())
  return sink
}

export function targetOf(sink: { readonly port: number }, changes: Partial<SmtpTarget> = {}): SmtpTarget {
  return {
    destinationId: 'dst_1',
    revision: '1',
    provider: 'smtp',
    host: 'mail.test',
    port: sink.port,
    security: 'none',
    tlsPolicy: 'verify',
    maxConnections: 1,
    ...changes,
  }
}

export interface JobOptions extends Partial<Omit<DeliveryJob, 'content'>> {
  readonly text?: string
  readonly chunks?: readonly Uint8Array[]
  readonly content?: DeliveryJob['content']
}

export function jobOf(options: JobOptions = {}): DeliveryJob {
  const { text = 'Subject: hello\r\n\r\nHello.\r\n', chunks, content, ...rest } = options
  const pieces = chunks ?? [Buffer.from(text, 'latin1')]
  return {
    traceId: '00000000-0000-4000-8000-000000000000',
    mailFrom: 'sender@site.test',
    rcptTo: ['one@peer.test'],
    eightBit: false,
    smtputf8: false,
    size: pieces.reduce((sum, piece) => sum + piece.length, 0),
    content: content ?? (() => pieces),
    beforeFinalDot: () => Promise.resolve(),
    signal: new AbortController().signal,
    ...rest,
  }
}

/** A promise with its handles, for work that a test resumes. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void; readonly refuse: (error: Error) => void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve, refuse: reject }
}
