/** TLS over an open connection, at once or after STARTTLS (RFC 3207, RFC 8314 §3.3), verified by default. */
import { isIP, type Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { connect as connectTls, createSecureContext, getCACertificates } from 'node:tls'
import type { Clock } from '#core/clock.ts'
import { OutboundFailure } from './failure.ts'

/** What a report says about the protection of a connection. */
export interface TlsFacts {
  readonly version: string
  readonly cipher: string
  readonly verified: boolean
}

/** Certificates of authorities in PEM: those that Node trusts, and the given ones. */
export const authoritiesWith = (trusted: readonly string[]): string[] => [...getCACertificates('default'), ...trusted]

/** What TLS stands on, made at the first use and once for all connections, because reading the authorities takes a while. */
export function clientContext(trusted: readonly string[]): () => SecureContext {
  let context: SecureContext | undefined
  return () => (context ??= createSecureContext({ minVersion: 'TLSv1.2', ...(trusted.length > 0 && { ca: authoritiesWith(trusted) }) }))
}

/** How a connection is to be protected. */
export interface SecureOptions {
  readonly host: string
  readonly verify: boolean
  readonly context: SecureContext
  readonly clock: Clock
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** Does the handshake. Throws `OutboundFailure`, with the socket destroyed. */
export function secure(bare: Socket, options: SecureOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: bare,
      host: options.host,
      ...(isIP(options.host) === 0 && { servername: options.host }),
      secureContext: options.context,
      rejectUnauthorized: options.verify,
    })
    const settle = (failure?: OutboundFailure): void => {
      timer.cancel()
      options.signal.removeEventListener('abort', onAbort)
      socket.off('error', onError).off('close', onClose)
      if (failure === undefined) return resolve(socket)
      socket.on('error', () => undefined).destroy()
      bare.destroy()
      reject(failure)
    }
    const timer = options.clock.after(options.deadlineMs, () => settle(new OutboundFailure('tls_timeout', 'tls')))
    const onAbort = (): void => settle(new OutboundFailure('aborted', 'tls'))
    const onClose = (): void => settle(new OutboundFailure('connection_lost', 'tls'))
    const onError = (error: Error): void => settle(asFailure(socket, error))
    options.signal.addEventListener('abort', onAbort)
    socket
      .once('secureConnect', () => settle())
      .on('error', onError)
      .on('close', onClose)
    if (options.signal.aborted) onAbort()
  })
}

/** Throws `OutboundFailure` when the connection is gone, as nothing is known of it then. */
export function tlsFacts(socket: TLSSocket): TlsFacts {
  if (socket.destroyed) throw new OutboundFailure('connection_lost', 'tls')
  return { version: socket.getProtocol() ?? 'unknown', cipher: socket.getCipher().name, verified: socket.authorized }
}

/** Node notes on the socket when it was the certificate that failed. The code is the library's own word, not the peer's. */
function asFailure(socket: TLSSocket, error: Error): OutboundFailure {
  const code = 'code' in error ? `(${String(error.code)})` : undefined
  return new OutboundFailure(socket.authorizationError ? 'tls_verification_failed' : 'tls_failed', 'tls', code)
}
