/** TLS over an open connection, immediately or after STARTTLS (RFC 3207, RFC 8314 §3.3). Verifies certificates by default. */
import { isIP, type Socket } from 'node:net'
import type { PeerCertificate, SecureContext, TLSSocket } from 'node:tls'
import { connect as connectTls, createSecureContext, getCACertificates } from 'node:tls'
import type { Clock } from '#core/clock.ts'
import { OutboundFailure } from './failure.ts'

/** TLS properties of a connection, for reports. */
export interface TlsFacts {
  readonly version: string
  readonly cipher: string
  readonly verified: boolean
}

/** Returns authority certificates in PEM: certificates that Node trusts and the given certificates. */
export const authoritiesWith = (trusted: readonly string[]): string[] => [...getCACertificates('default'), ...trusted]

/** Returns a function that creates the TLS context on the first call. All connections share it, because loading the authorities is slow. */
export function clientContext(trusted: readonly string[]): () => SecureContext {
  let context: SecureContext | undefined
  return () => (context ??= createSecureContext({ minVersion: 'TLSv1.2', ...(trusted.length > 0 && { ca: authoritiesWith(trusted) }) }))
}

/** Parameters of a TLS handshake. */
export interface SecureOptions {
  readonly host: string
  readonly verify: boolean
  readonly context: SecureContext
  readonly clock: Clock
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** Performs the handshake. If it throws `OutboundFailure`, the socket is destroyed. */
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

/** Returns the TLS properties. Throws `OutboundFailure` if the connection is closed, because its properties are lost then. */
export function tlsFacts(socket: TLSSocket): TlsFacts {
  if (socket.destroyed) throw new OutboundFailure('connection_lost', 'tls')
  return { version: socket.getProtocol() ?? 'unknown', cipher: socket.getCipher().name, verified: socket.authorized }
}

/**
 * Maps a TLS error. Node sets `authorizationError` if the certificate was the cause, and `cert` if it is for another host. The code comes
 * from the library, not from the peer.
 */
function asFailure(socket: TLSSocket, error: Error): OutboundFailure {
  const code = 'code' in error ? `(${String(error.code)})` : undefined
  const failure = new OutboundFailure(socket.authorizationError ? 'tls_verification_failed' : 'tls_failed', 'tls', code)
  if ('cert' in error) failure.certificateNames = namesOf(error.cert as Partial<PeerCertificate>)
  return failure
}

const maxNames = 10

/** Returns the host names of a certificate, without wildcards. */
const namesOf = ({ subjectaltname = '' }: Partial<PeerCertificate>): readonly string[] =>
  [...subjectaltname.matchAll(/(?<=^|, )DNS:([A-Za-z0-9.-]{1,253})(?=,|$)/g)].slice(0, maxNames).map(([, name = '']) => name)
