/**
 * One SMTP session (RFC 5321) on smtp-server's connection: its greeting without a wait, its commands cut down to what is
 * served here, its replies with enhanced codes of our own, its DATA straight into a draft. What differs from server to server
 * (who may send, where mail goes) is what the subclasses add.
 */
import { isAscii } from 'node:buffer'
import type { Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js'
import { isUndecided } from '#core/writes/store-refusal.ts'
import { factsOf, type ReceptionContext } from './reception-context.ts'
import { ReceptionStream, type DataReceiver } from './data-receiver.ts'
import type { MessageIntake } from './message-intake.ts'
import { plainPath } from './plain-path.ts'
import { SessionWatch, type Expiry, type Phase, type Watched } from './session-watch.ts'

export type Resume = () => void

/** A message that was taken: the words after `250 2.0.0 Ok:`, and whom to notify, with the milliseconds since the final dot. */
export interface Taken {
  readonly answer: string
  onWritten(ms: number): void
}

/** RFC 5321 §4.5.3.1.4 asks for 512 octets; SMTPUTF8 paths and AUTH responses need more. */
const maxCommandOctets = 4096
/** Replies of 500 to 504, 530 and 555 after which a session ends. An accepted message starts the count anew. */
const maxErrors = 10
/** Commands beside RCPT between two messages. */
const maxCommands = 100

const served = new Set(['EHLO', 'HELO', 'STARTTLS', 'MAIL', 'RCPT', 'DATA', 'RSET', 'NOOP', 'QUIT', 'VRFY', 'HELP'])
// Known to the standard or to the package, and not for here: RFC 5321 §4.2.4 gives them 502, unknown ones 500.
const unserved = new Set('AUTH EXPN TURN ETRN ATRN BDAT BURL SEND SOML SAML WIZ SHELL KILL DEBUG XCLIENT XFORWARD LHLO'.split(' '))
/** A path without its brackets, as scanners and other machines send it; Postfix takes it too. */
const bareAddress = /^((?:MAIL FROM|RCPT TO):[ \t]*)([^\s<>:]+)(?=\s|$)/i
/** A path with an address, without its source route (RFC 5321 §4.1.2): `paths.ts` judges the address, the package reads the rest. */
const addressPath =
  /^((?:MAIL FROM|RCPT TO):[ \t]*)<(?:@[^ \t,:@<>]+(?:,@[^ \t,:@<>]+)*:)?((?:"(?:[^"\\\p{Cc}]|\\\P{Cc})*"|[^ <>"@\p{Cc}]+)@[^ <>@\p{Cc}]+)>(?=[ \t]|$)/iu
const anyPath = '$1<a@b.example>'
const errorCodes = new Set([500, 501, 502, 503, 504, 530, 555])
const ownEnhancedCode = /^[245]\.\d{1,3}\.\d{1,3} /
/** Any character but a control character: Windows sends names outside ASCII and with blanks, and Postfix takes them too. */
const clientName = /^[^\u0000-\u001f\u007f-\u009f]{1,255}$/

const farewells: Readonly<Record<Expiry, string>> = {
  idle: '4.4.2 No command came in time; closing the connection.',
  session: '4.4.2 The session has brought no message for too long; please connect again.',
  slow: '4.4.2 The message comes in too slowly; closing the connection.',
}

export abstract class ReceptionConnection extends SMTPConnection implements Watched, DataReceiver {
  readonly #context: ReceptionContext
  readonly #acceptedSocket: Socket
  readonly #watch: SessionWatch
  #intake: MessageIntake | undefined
  /** A message is with the core. */
  #taking = false
  #draining = false
  #gone = false
  #errors = 0
  #commands = 0

  constructor(context: ReceptionContext, server: SMTPServer, socket: Socket, options?: SMTPConnectionOptions | null) {
    super(server, socket, options)
    this.#context = context
    this.#acceptedSocket = socket
    this.session.remoteAddress = this.remoteAddress
    context.sockets.set(this.session, socket)
    this.#watch = new SessionWatch(context.clock, context.limits, this)
  }

  /** What HELP answers. */
  protected abstract readonly help: string

  /** Extensions in EHLO beside those of every server. */
  protected abstract ownFeatures(): readonly string[]

  /** Whether EHLO names STARTTLS; it is served in any case. */
  protected announcesStartTls(): boolean {
    return true
  }

  /** Whether a command of the package is for here. */
  protected serves(command: string): boolean {
    return served.has(command)
  }

  /** RFC 1870 limit as it stands for this session. */
  protected abstract maxMessageBytes(): number

  /** Throws a refusal when no message may begin now. */
  protected abstract checkMessage(): void

  /** Begins a message with the recipients of the session. */
  protected abstract openMessage(report: (error: unknown) => void): MessageIntake

  /** Takes a message that is complete; resolves when it is durable. Throws refusals, after which nothing of it is kept. */
  protected abstract take(intake: MessageIntake): Promise<Taken>

  /** Greets at once: the wait of the package for early talkers guards against spam, and nothing of ours is worth it. */
  override init(): void {
    this.#context.events.sessionOpened(factsOf(this.session))
    this._setListeners(() => this.connectionReady())
  }

  get phase(): Phase {
    if (this.#taking || this._handlerPending || this.#intake?.waiting) return 'working'
    return this.#intake ? 'data' : 'command'
  }

  get octetsReceived(): number {
    return this._socket.bytesRead
  }

  get isScarce(): boolean {
    return this.#context.caps.areScarce
  }

  expire(why: Expiry): void {
    this.send(421, farewells[why])
    this.#drop()
  }

  /** Ends the session with 421, at once or after the message that is on its way in. */
  shutDown(): void {
    this.#draining = true
    if (!this.#intake && !this.#taking) this.#leave()
  }

  /** A message is with the core: its outcome alone is the reply to the final dot, whatever ends the session. */
  get isTaking(): boolean {
    return this.#taking
  }

  /** From here on the client has nothing to wait for, and may take its time to hang up. */
  override close(): void {
    super.close()
    this.#context.caps.end(this.#acceptedSocket)
  }

  /** Ends the session without a word. */
  destroy(): void {
    this._socket.destroy()
  }

  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    if (this._closing || this._closed) return
    const own = typeof data === 'string' && ownEnhancedCode.test(data)
    if (code >= 400 && this.#isOneTooMany(code, own ? data : this._getEnhancedStatusCode(code, context))) {
      return super.send(421, '4.7.0 Too many errors; closing the connection.', false)
    }
    super.send(code, data, own ? false : context)
    // the handshake that follows must find nothing of ours before it
    if (code === 220) this._socket.uncork()
  }

  /** What the package would call a timeout is, where it still uses 421 by itself, always an abuse of the protocol. */
  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    return code === 421 && context !== false ? '4.7.0' : super._getEnhancedStatusCode(code, context)
  }

  /** The deadlines are ours, see `SessionWatch`. */
  override _armTimeout(): void {}

  override _createParser(): ReceptionStream {
    const parser = new ReceptionStream({ maxCommandLength: maxCommandOctets })
    parser.oncommand = (command, resume) => this._onCommand(command, resume)
    parser.onPipelined = (read) => this.#answerTogether(read)
    parser.on('error', () => {
      this.send(500, '5.5.2 The line is too long; closing the connection.')
      this.close()
    })
    return parser
  }

  override _onCommand(command: Buffer, resume?: Resume): void {
    if (++this.#commands > maxCommands + 2 * this.#context.limits.maxRecipients) {
      return this.send(421, '4.7.0 Too many commands without a message; closing the connection.')
    }
    super._onCommand(command, resume)
  }

  /** STARTTLS of a client that is gone has nothing to put TLS around, and Node would not survive the attempt. */
  override upgrade(callback: () => void, secureCallback?: () => void): void {
    if (!this._socket.destroyed) super.upgrade(callback, secureCallback)
  }

  override _getHandler(command: string): ReturnType<SMTPConnection['_getHandler']> {
    if (this.serves(command)) return super._getHandler(command)
    return unserved.has(command) ? refuseCommand : undefined
  }

  override _parseAddressCommand(name: string, command: Buffer | string): ReturnType<SMTPConnection['_parseAddressCommand']> {
    const text = command.toString()
    const address = plainPath(name, text)
    if (address !== undefined) return { address, args: false }
    const bracketed = text.replace(bareAddress, '$1<$2>')
    const given = addressPath.exec(bracketed)?.[2]
    const parsed = super._parseAddressCommand(name, given === undefined ? bracketed : bracketed.replace(addressPath, anyPath))
    const eightBit = !isAscii(typeof command === 'string' ? Buffer.from(command) : command)
    return parsed && Object.assign(parsed, { eightBit, ...(given !== undefined && { address: given }) })
  }

  override handler_EHLO(command: Buffer, resume: Resume): void {
    const features = ['PIPELINING', `SIZE ${this.maxMessageBytes()}`, '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']
    if (!this.secure && this.announcesStartTls()) features.push('STARTTLS')
    this.#greet(command, resume, [this.name, ...features, ...this.ownFeatures()])
  }

  override handler_HELO(command: Buffer, resume: Resume): void {
    this.#greet(command, resume, this.name)
  }

  override handler_VRFY(_command: Buffer, resume: Resume): void {
    this.send(252, '2.5.2 Cannot tell; send a message and see.')
    resume()
  }

  override handler_HELP(_command: Buffer, resume: Resume): void {
    this.send(214, `2.0.0 ${this.help}`)
    resume()
  }

  override handler_DATA(_command: Buffer, resume: Resume): void {
    try {
      this.#beginMessage()
    } catch (error) {
      this.#refuse(error)
    }
    resume()
  }

  feed(chunk: Buffer): number | Promise<number> {
    return this.#intake ? this.#intake.feed(chunk) : -1
  }

  goesOn(): boolean {
    if (!this.#intake?.isOverrun(this.#context.clock.monotonic())) return true
    this.send(552, '5.3.4 The message is far larger than allowed; closing the connection.')
    this.#drop()
    this.close()
    return false
  }

  complete(resume: Resume): void {
    const intake = this.#intake
    this.#intake = undefined
    if (!intake) return resume()
    this.#taking = true
    const end = this.#context.activity?.begin('SMTP transaction')
    this.#finish(intake)
      .then(() => this.#goOn(resume))
      .catch((error: unknown) => {
        this.#context.report(error, this.session)
        this.destroy()
      })
      .finally(() => end?.())
  }

  override _onClose(): void {
    super._onClose()
    if (this.#gone) return
    this.#gone = true
    this.#watch.stop()
    this.#drop()
    this.#context.caps.release(this.#acceptedSocket)
    this.#context.events.sessionClosed(factsOf(this.session))
  }

  /** Replies to pipelined commands leave in one piece. */
  #answerTogether(read: () => void): void {
    const socket = this._socket
    socket.cork()
    try {
      read()
    } finally {
      socket.uncork()
    }
  }

  #beginMessage(): void {
    this.checkMessage()
    const parser = this._parser
    if (this.session.envelope.rcptTo.length === 0) return this.send(503, '5.5.1 No recipient was accepted; RCPT TO first.')
    if (!(parser instanceof ReceptionStream)) return
    const report = (error: unknown): void => this.#context.report(error, this.session)
    this.#intake = this.openMessage(report)
    parser.receive(this)
    this.send(354, 'End with a dot on a line of its own')
  }

  /** Back to commands, unless the session should end. */
  #goOn(resume: Resume): void {
    this.#taking = false
    this.#commands = 0
    this._transactionCounter++
    this._resetSession()
    if (this.#draining) this.#leave()
    resume()
  }

  async #finish(intake: MessageIntake): Promise<void> {
    const { clock } = this.#context
    const finalDotAt = clock.monotonic()
    try {
      const verdict = intake.verdict()
      if (verdict) throw verdict
      const taken = await this.take(intake)
      this.#errors = 0
      this.#watch.progressed()
      this._unrecognizedCommands = 0
      this.send(250, `2.0.0 Ok: ${taken.answer}`)
      taken.onWritten(clock.monotonic() - finalDotAt)
    } catch (error) {
      intake.abandon()
      if (isUndecided(error)) throw error // ends the session without a reply
      this.#refuse(error)
    }
  }

  #greet(command: Buffer, resume: Resume, answer: string | string[]): void {
    const [, name = ''] = /^\S+[ \t]+(.*)$/s.exec(command.toString().trim()) ?? []
    if (clientName.test(name)) {
      this.hostNameAppearsAs = name.toLowerCase()
      this._resetSession()
      this.send(250, answer, false)
    } else {
      this.send(501, '5.5.4 Say your host name.')
    }
    resume()
  }

  #refuse(error: unknown): void {
    const { responseCode, message } = this.#context.replyTo(error, this.session)
    this.send(responseCode, message)
  }

  /** Reports a refusal and counts it. `text` begins with the enhanced code. */
  #isOneTooMany(code: number, text: string): boolean {
    const [enhanced = ''] = text.split(' ', 1)
    this.#context.events.refused(`${code} ${enhanced}`, factsOf(this.session), text.slice(enhanced.length + 1))
    // An address that is refused says nothing about the client's grasp of SMTP.
    return errorCodes.has(code) && !enhanced.startsWith('5.1.') && ++this.#errors >= maxErrors
  }

  #leave(): void {
    this.send(421, '4.3.2 The service is shutting down; please try again later.')
  }

  #drop(): void {
    this.#intake?.abandon()
    this.#intake = undefined
  }
}

function refuseCommand(this: SMTPConnection, _command: Buffer, resume: Resume): void {
  this.send(502, '5.5.1 This command is not served here.')
  resume()
}
