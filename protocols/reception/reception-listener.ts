/** Listening address: smtp-server with our sessions and connection limits. Subclasses decide about paths. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { ReceptionConnection } from './reception-connection.ts'
import type { Admission } from './connection-caps.ts'
import type { ReceptionContext } from './reception-context.ts'
import type { PathArgument } from './paths.ts'
import type { ListenAddress, ListenerCertificate, ReceptionLimits } from './reception-settings.ts'
import { NegativeReply } from './smtp-reply.ts'

type Answer = (error?: Error | null) => void

const refusedAtTheDoor: Readonly<Record<Exclude<Admission, 'admitted'>, string>> = {
  full: '421 4.3.2 Too many connections; please try again later.\r\n',
  'too-many-from-address': '421 4.7.0 Too many connections from your address; please close some.\r\n',
}
/** Timeout of the TLS handshake. */
const handshakeMs = 60_000
/** Time for a refused client to read the reason. */
const refusedLingerMs = 2000
/** Pending connections in the kernel. Further connections are refused by the kernel. */
const backlog = 1024

export interface ListenerOptions {
  /** Host name in the greeting. */
  readonly hostname: string
  readonly tls: ListenerCertificate
  readonly limits: ReceptionLimits
}

export abstract class ReceptionListener extends SMTPServer {
  readonly #context: ReceptionContext
  readonly #waited = new WeakSet<Socket>()
  readonly #endsChanges: (() => void) | undefined

  constructor(context: ReceptionContext, { hostname, tls, limits }: ListenerOptions, insideTls: boolean, own: SMTPServerOptions) {
    super({ ...packageOptions(hostname, limits), cert: tls.cert, key: tls.key, secure: insideTls, ...own })
    this.#context = context
    this.on('error', (error) => context.events.protocolError(error))
    // applies to new handshakes; sessions with TLS keep their certificate
    this.#endsChanges = tls.onChange?.(({ cert, key }) => this.updateSecureContext({ cert, key }))
  }

  protected abstract newConnection(socket: Socket, options?: SMTPConnectionOptions | null): ReceptionConnection

  /** Throws a refusal if the server accepts no mail now, or none from this client. */
  protected abstract checkConnect(session: SMTPServerSession): void | Promise<void>

  /** Returns the normalized reverse-path. Throws a refusal. */
  protected abstract checkMailFrom(path: PathArgument, session: SMTPServerSession): string | Promise<string>

  /** Returns the normalized forward-path. Throws a refusal. */
  protected abstract checkRcptTo(path: PathArgument, session: SMTPServerSession): string | Promise<string>

  /** Resolves with the bound address when the listener accepts connections. */
  async open({ host, port, bound }: ListenAddress): Promise<ListenAddress> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject)
      this.listen(bound ?? { host, port, backlog }, () => {
        this.server.off('error', reject)
        resolve()
      })
    })
    const address = this.server.address()
    return typeof address === 'object' && address ? { host: address.address, port: address.port } : { host, port }
  }

  /** Stops accepting connections and lets sessions end. Resolves when the last session has ended. */
  drain(): Promise<void> {
    this.#endsChanges?.()
    const closed = new Promise<void>((resolve) => this.close(() => resolve()))
    for (const connection of this.#sessions()) connection.shutDown()
    return closed
  }

  /** Closes the remaining sessions, except while their message is being written. Those end after the reply with its outcome. */
  destroyAll(): void {
    for (const connection of this.#sessions()) if (!connection.isTaking) connection.destroy()
  }

  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    const { caps } = this.#context
    const admission = caps.admit(socket)
    if (admission === 'too-many-from-address' && this.#waitsForOthers(socket)) return false
    // A reset must not end the process before a session listens for errors, or after the package removes its listeners.
    socket.on('error', ignore)
    if (admission === 'admitted') {
      socket.once('close', () => caps.release(socket))
      return super._acceptSocket(socket, handshake)
    }
    turnAway(socket, handshake ? undefined : refusedAtTheDoor[admission])
    return false
  }

  /** Skips the PROXY protocol, which this server does not offer, and creates a session id from pooled random octets, which is cheaper. */
  override _handleProxy(_socket: Socket, callback: (error: Error | null, options?: { readonly id: string }) => void): void {
    const id = randomUUID().replaceAll('-', '')
    setImmediate(() => callback(null, { id }))
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = this.newConnection(socket, options)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  /** Checks that the connection still exists after its accept, because a TLS socket around a destroyed socket would end the process. */
  override _upgrade(socket: Socket, callback: (error: Error | null, tlsSocket?: TLSSocket) => void): void {
    if (socket.destroyed) return callback(new Error('The connection closed without a TLS handshake.'))
    super._upgrade(socket, (error, tlsSocket) => {
      if (tlsSocket) this.#context.caps.wrap(socket, tlsSocket)
      callback(error, tlsSocket)
    })
  }

  override onConnect(session: SMTPServerSession, answer: Answer): void {
    Promise.try(() => this.checkConnect(session)).then(
      () => answer(),
      (error: unknown) => {
        const reply = this.#context.replyTo(error, session)
        answer(reply.responseCode === 421 ? reply : new NegativeReply(421, '4.3.2', reply.text))
      },
    )
  }

  override onSecure(socket: Socket, _session: SMTPServerSession, answer: Answer): void {
    socket.on('error', ignore)
    answer()
  }

  override onMailFrom(path: PathArgument, session: SMTPServerSession, answer: Answer): void {
    this.#decide(session, answer, () => taken(path, this.checkMailFrom(path, session)))
  }

  override onRcptTo(path: PathArgument, session: SMTPServerSession, answer: Answer): void {
    this.#decide(session, answer, () => taken(path, this.checkRcptTo(path, session)))
  }

  /**
   * Defers a refused connection once, until pending events are processed. Node may report closed connections only after the accept of their
   * replacement. Returns false the second time.
   */
  #waitsForOthers(socket: Socket): boolean {
    if (this.#waited.has(socket)) return false
    this.#waited.add(socket)
    socket.on('error', ignore)
    setImmediate(() => setImmediate(() => socket.destroyed || this.server.emit('connection', socket)))
    return true
  }

  #decide(session: SMTPServerSession, answer: Answer, decide: () => Promise<void> | undefined): void {
    const refuse = (error: unknown): void => answer(this.#context.replyTo(error, session))
    let later: Promise<void> | undefined
    try {
      later = decide()
    } catch (error) {
      return refuse(error)
    }
    if (later) void later.then(() => answer(), refuse)
    else answer()
  }

  #sessions(): ReceptionConnection[] {
    return [...this.connections].filter((connection) => connection instanceof ReceptionConnection)
  }
}

/** Writes the normalized address into the path. */
function taken(path: PathArgument, address: string | Promise<string>): Promise<void> | undefined {
  if (typeof address !== 'string') return address.then((found) => void (path.address = found))
  path.address = address
  return undefined
}

const ignore = (): void => undefined

/** Refuses a connection. A client in a TLS handshake could not read a reason. */
function turnAway(socket: Socket, reason: string | undefined): void {
  if (reason === undefined) {
    socket.destroy()
    return
  }
  socket.end(reason)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), refusedLingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}

function packageOptions(name: string, { maxRecipients, idleMs }: ReceptionLimits): SMTPServerOptions {
  return {
    name,
    minVersion: 'TLSv1.2',
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    maxRecipients,
    // The package applies this only to the handshake with implicit TLS.
    socketTimeout: Math.min(idleMs, handshakeMs),
    // The caller enforces the deadline of a close.
    closeTimeout: 2 ** 31 - 1,
    logger: false,
  }
}
