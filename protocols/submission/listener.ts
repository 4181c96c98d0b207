/** One listening address: smtp-server with our sessions, our caps, and the decisions of the door behind its hooks. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerAuthentication,
  type SMTPServerAuthenticationResponse,
  type SMTPServerOptions,
  type SMTPServerSession,
} from 'smtp-server'
import type { SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { LoginGate } from './auth.ts'
import { SubmissionConnection } from './connection.ts'
import type { Admission } from './connection-caps.ts'
import type { SubmissionContext } from './context.ts'
import { checkMailFrom } from './mail-from.ts'
import { checkRcptTo } from './rcpt-to.ts'
import type { SubmissionOptions } from './settings.ts'
import { NegativeReply } from './smtp-reply.ts'

type Answer = (error?: Error | null) => void
type AuthAnswer = (error: Error | null | undefined, response?: SMTPServerAuthenticationResponse) => void

const refusedAtTheDoor: Readonly<Record<Exclude<Admission, 'admitted'>, string>> = {
  full: '421 4.3.2 Too many connections; please try again later.\r\n',
  'too-many-from-address': '421 4.7.0 Too many connections from your address; please close some.\r\n',
}
/** How long a refused client may take to read why. */
const refusedLingerMs = 2000
/** Connections the kernel holds while we are busy; more are turned away by it. */
const backlog = 1024

export class SubmissionListener extends SMTPServer {
  readonly #context: SubmissionContext
  readonly #gate: LoginGate

  constructor(context: SubmissionContext, gate: LoginGate, options: SubmissionOptions, insideTls: boolean) {
    super(packageOptions(options, insideTls))
    this.#context = context
    this.#gate = gate
    this.on('error', (error) => context.events.protocolError(error))
  }

  /** Resolves when connections are taken. */
  async open({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject)
      this.listen({ host, port, backlog }, () => {
        this.server.off('error', reject)
        resolve()
      })
    })
  }

  /** Takes no more connections and lets the sessions end; resolves when the last one is gone. */
  drain(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.close(() => resolve()))
    for (const connection of this.#sessions()) connection.shutDown()
    return closed
  }

  /** Ends what is left. */
  destroyAll(): void {
    for (const connection of this.#sessions()) connection.destroy()
  }

  override _acceptSocket(socket: Socket, handshake: boolean): (() => void) | false {
    const { caps } = this.#context
    const admission = caps.admit(socket)
    // Until a session listens, and whenever the package has taken its listeners off, a reset must not end the process.
    socket.on('error', ignore)
    if (admission === 'admitted') {
      socket.once('close', () => caps.release(socket))
      return super._acceptSocket(socket, handshake)
    }
    turnAway(socket, handshake ? undefined : refusedAtTheDoor[admission])
    return false
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new SubmissionConnection(this.#context, this, socket, options)
    this.connections.add(connection)
    connection.on('error', (error: Error) => this._onError(error))
    connection.init()
  }

  /** A connection may end in the turn between its accept and this; a TLS socket around what is gone would end the process. */
  override _upgrade(socket: Socket, callback: (error: Error | null, tlsSocket?: TLSSocket) => void): void {
    if (socket.destroyed) return callback(new Error('The connection ended before its TLS handshake.'))
    super._upgrade(socket, callback)
  }

  override onConnect(session: SMTPServerSession, answer: Answer): void {
    try {
      this.#context.door.checkOpen()
    } catch (error) {
      return answer(new NegativeReply(421, '4.3.2', this.#context.replyTo(error, session).text))
    }
    answer()
  }

  override onSecure(socket: Socket, _session: SMTPServerSession, answer: Answer): void {
    socket.on('error', ignore)
    answer()
  }

  override onAuth({ username, password }: SMTPServerAuthentication, session: SMTPServerSession, answer: AuthAnswer): void {
    this.#gate.logIn(session, username ?? '', password ?? '').then(
      (login) => answer(null, { user: login }),
      (error: unknown) => answer(this.#context.replyTo(error, session)),
    )
  }

  override onMailFrom(path: SMTPServerAddress, session: SMTPServerSession, answer: Answer): void {
    this.#decide(session, answer, () => {
      const login = this.#context.loginOf(session)
      this.#context.door.checkOpen()
      path.address = checkMailFrom(path, login)
    })
  }

  override onRcptTo(path: SMTPServerAddress, session: SMTPServerSession, answer: Answer): void {
    this.#decide(session, answer, () => {
      this.#context.loginOf(session)
      const { mailFrom } = session.envelope
      // Not `envelope.smtpUtf8`: the package sets it for a MAIL that is then refused, and leaves it set.
      path.address = checkRcptTo(path, mailFrom !== false && mailFrom.args !== false && mailFrom.args['SMTPUTF8'] === true)
    })
  }

  #decide(session: SMTPServerSession, answer: Answer, decide: () => void): void {
    try {
      decide()
    } catch (error) {
      return answer(this.#context.replyTo(error, session))
    }
    answer()
  }

  #sessions(): SubmissionConnection[] {
    return [...this.connections].filter((connection) => connection instanceof SubmissionConnection)
  }
}

function packageOptions({ hostname, tls, cleartextAuth, limits }: SubmissionOptions, secure: boolean): SMTPServerOptions {
  return {
    ...tls,
    secure,
    name: hostname,
    minVersion: 'TLSv1.2',
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: cleartextAuth === 'loopback',
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    maxRecipients: limits.maxRecipients,
    maxAllowedUnauthenticatedCommands: 25,
    // Only the handshake of an implicit TLS listener is timed by the package.
    socketTimeout: limits.idleMs,
    // The deadline of a close is the caller's.
    closeTimeout: 2 ** 31 - 1,
    logger: false,
  }
}

const ignore = (): void => undefined

/** A client inside a TLS handshake could not read a reason. */
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
