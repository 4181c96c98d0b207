/** A listening address of the HTTP side: Node's server under srvx, in clear text or TLS, with its connection limits. */
import { once } from 'node:events'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo, Server as NetServer, Socket } from 'node:net'
import type { SecureContext, Server as TlsServer, TLSSocket } from 'node:tls'
import { serve } from 'srvx'
import type { Fetch } from '../routes.ts'

export interface Address {
  readonly host: string
  readonly port: number
  /** A socket already bound by a start as root; the listener takes it over. */
  readonly bound?: NetServer | undefined
}

/** PEM texts. */
interface Pair {
  readonly cert: string
  readonly key: string
}

export interface HttpsOptions {
  readonly certificate: Pair & {
    /** Calls `take` with each replaced certificate until the returned function is called. */
    onChange(take: (pair: Pair) => void): () => void
  }
  /** Returns the certificate that proves a name to a certificate authority (RFC 8737). */
  readonly challengeOf?: (name: string) => SecureContext | undefined
}

export interface HttpListenerOptions {
  readonly fetch: Fetch
  /** Port 0 selects a free port. */
  readonly listen: Address
  readonly tls?: HttpsOptions | undefined
  readonly trustProxy: readonly string[] | undefined
  readonly maxConnections: number
  /** Connections that the kernel holds before they are accepted. */
  readonly backlog: number
  readonly headerMs: number
  readonly requestMs: number
  readonly arrivalCheckMs: number
  /** Counts a connection. Returns false if its client has too many. */
  admit(socket: Socket): boolean
  /** Called for a refused connection. */
  turnedAway(socket: Socket): void
  /** Called for a connection that the kernel accepted beyond `maxConnections`. */
  dropped(): void
  /** Called for a connection with invalid HTTP, which cannot carry further requests. */
  broke(error: Error & { readonly code?: string }, socket: Socket): void
}

const acmeProtocol = 'acme-tls/1'
const http1 = 'http/1.1'
/** Longer than the idle time of common proxies, so that proxies close idle connections first. */
const keepAliveMilliseconds = 65_000
const handshakeMs = 30_000
const idleSweepMilliseconds = 20

export class HttpListener {
  readonly #options: HttpListenerOptions
  readonly #sockets = new Set<Socket>()
  /** Connections during the TLS handshake, by client address and port. */
  readonly #shaking = new Map<string, Socket>()
  #server: Server | undefined
  #endsChanges: (() => void) | undefined

  constructor(options: HttpListenerOptions) {
    this.#options = options
  }

  /** Starts listening. Resolves with the bound address; rejects if binding fails. */
  async listen(): Promise<Address> {
    const { fetch, listen, tls, trustProxy, backlog, headerMs, requestMs, arrivalCheckMs } = this.#options
    const served = serve({
      fetch,
      hostname: listen.host,
      port: listen.port,
      silent: true,
      gracefulShutdown: false,
      manual: true,
      trustProxy: trustProxy ? [...trustProxy] : false,
      node: {
        backlog,
        headersTimeout: headerMs,
        requestTimeout: requestMs,
        keepAliveTimeout: keepAliveMilliseconds,
        connectionsCheckingInterval: arrivalCheckMs,
        insecureHTTPParser: false,
        noDelay: true,
        ...(tls && tlsOptions(tls)),
      },
    })
    const server = served.node?.server as Server
    this.#guard(server, served.node?.handler as RequestListener)
    await (listen.bound ? once(server.listen(listen.bound), 'listening') : served.serve())
    this.#server = server
    const secured = server as Server & TlsServer
    this.#endsChanges = tls?.certificate.onChange(({ cert, key }) => secured.setSecureContext({ cert, key, minVersion }))
    const { address, port } = server.address() as AddressInfo
    return { host: address, port }
  }

  /** Stops listening and closes connections that are idle or have sent no data. Resolves when the last connection is closed. */
  async close(): Promise<void> {
    const server = this.#server
    if (!server?.listening) return
    this.#endsChanges?.()
    const closed = once(server, 'close')
    server.close()
    for (const socket of this.#shaking.values()) socket.destroy()
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
    const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMilliseconds)
    await closed
    clearInterval(sweep)
  }

  /** Closes all connections except `kept`. */
  cut(kept: ReadonlySet<Socket>): void {
    if (kept.size === 0) return this.#server?.closeAllConnections()
    for (const socket of this.#sockets) if (!kept.has(socket)) socket.destroy()
  }

  #guard(server: Server, handler: RequestListener): void {
    server.maxConnections = this.#options.maxConnections
    server.on('drop', () => this.#options.dropped())
    server.on('clientError', (error, socket) => this.#broke(error, socket as Socket))
    // With this listener, Node leaves "100 Continue" to the body reader, which sends it after authentication.
    server.on('checkContinue', handler)
    this.#admitConnections(server)
    if (this.#options.tls) this.#serveSecured(server)
  }

  #admitConnections(server: Server): void {
    before(server, 'connection', (socket) => {
      if (!this.#options.admit(socket)) {
        this.#options.turnedAway(socket)
        return false
      }
      if (this.#options.tls) this.#shake(socket)
      else this.#keep(socket)
      return true
    })
  }

  #serveSecured(server: Server): void {
    before(server, 'secureConnection', (socket) => {
      this.#shaking.delete(clientOf(socket))
      // the certificate authority needs only the handshake
      if ((socket as TLSSocket).alpnProtocol === acmeProtocol) {
        socket.end()
        return false
      }
      this.#keep(socket)
      return true
    })
  }

  #shake(socket: Socket): void {
    const client = clientOf(socket)
    this.#shaking.set(client, socket)
    socket.once('close', () => this.#shaking.delete(client))
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #broke(error: Error & { readonly code?: string }, socket: Socket): void {
    if (this.#options.tls && !this.#sockets.has(socket)) return void socket.destroy()
    this.#options.broke(error, socket)
  }
}

const minVersion = 'TLSv1.2'

/** Only HTTP/1.1, since the limits of requests and connections are designed for it. */
function tlsOptions({ certificate: { cert, key }, challengeOf }: HttpsOptions) {
  return {
    ...{ cert, key, minVersion, http2: false, handshakeTimeout: handshakeMs },
    ALPNCallback(this: unknown, { servername, protocols }: { readonly servername: string; readonly protocols: readonly string[] }) {
      if (!protocols.includes(acmeProtocol)) return protocols.includes(http1) ? http1 : undefined
      const context = challengeOf?.(servername)
      if (!context) return undefined
      ;(this as TLSSocket).setKeyCert(context)
      return acmeProtocol
    },
  } as const
}

const clientOf = ({ remoteAddress, remotePort }: Socket): string => `${String(remoteAddress)} ${String(remotePort)}`

/** Calls `admits` before the existing listeners, which run only if it returns true. */
function before(server: Server, event: 'connection' | 'secureConnection', admits: (socket: Socket) => boolean): void {
  const standing = server.listeners(event)
  server.removeAllListeners(event)
  server.on(event, (socket: Socket) => {
    if (!admits(socket)) return
    for (const listener of standing) listener.call(server, socket)
  })
}
