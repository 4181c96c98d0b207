/**
 * SMTP session (RFC 5321), based on the connection of smtp-server. It greets without delay, serves fewer commands, adds its own enhanced
 * codes, and writes DATA directly into a draft. Subclasses decide who may send, and where mail is delivered.
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

/** An accepted message: the text after `250 2.0.0 Ok:`, and a callback with the milliseconds since the final dot. */
export interface Taken {
  readonly answer: string
  onWritten(ms: number): void
}

/** RFC 5321 §4.5.3.1.4 requires 512 octets. SMTPUTF8 paths and AUTH responses need more. */
const maxCommandOctets = 4096
/** A session ends at this number of replies 500 to 504, 530 and 555. An accepted message resets the count. */
const maxErrors = 10
/** Commands between two messages, in addition to two for each allowed recipient. */
const maxCommands = 100

const served = new Set(['EHLO', 'HELO', 'STARTTLS', 'MAIL', 'RCPT', 'DATA', 'RSET', 'NOOP', 'QUIT', 'VRFY', 'HELP'])
// Commands that a standard or the package defines, but this server does not implement. RFC 5321 §4.2.4: they get 502, unknown commands 500.
const unserved = new Set('AUTH EXPN TURN ETRN ATRN BDAT BURL SEND SOML SAML WIZ SHELL KILL DEBUG XCLIENT XFORWARD LHLO'.split(' '))
/** A path without its brackets. Scanners and other devices send it; Postfix accepts it too. */
const bareAddress = /^((?:MAIL FROM|RCPT TO):[ \t]*)([^\s<>:]+)(?=\s|$)/i
/** A path with an address, without its source route (RFC 5321 §4.1.2). `paths.ts` checks the address; the package parses the rest. */
const addressPath =
  /^((?:MAIL FROM|RCPT TO):[ \t]*)<(?:@[^ \t,:@<>]+(?:,@[^ \t,:@<>]+)*:)?((?:"(?:[^"\\\p{Cc}]|\\\P{Cc})*"|[^ <>"@\p{Cc}]+)@[^ <>@\p{Cc}]+)>(?=[ \t]|$)/iu
const anyPath = '$1<a@b.example>'
const errorCodes = new Set([500, 501, 502, 503, 504, 530, 555])
const ownEnhancedCode = /^[245]\.\d{1,3}\.\d{1,3} /
/** Any characters except control characters. Windows sends names with non-ASCII characters and spaces; Postfix accepts them too. */
const clientName = /^[^\u0000-\u001f\u007f-\u009f]{1,255}$/

const farewells: Readonly<Record<Expiry, string>> = {
  idle: '4.4.2 No command arrived in time; closing the connection.',
  session: '4.4.2 No message was accepted for too long; please connect again.',
  slow: '4.4.2 The message arrives too slowly; closing the connection.',
}

export abstract class ReceptionConnection extends SMTPConnection implements Watched, DataReceiver {
  readonly #context: ReceptionContext
  readonly #acceptedSocket: Socket
  readonly #watch: SessionWatch
  #intake: MessageIntake | undefined
  /** The core is processing a message. */
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

  /** Text of the reply to HELP. */
  protected abstract readonly help: string

  /** EHLO extensions in addition to the common ones. */
  protected abstract ownFeatures(): readonly string[]

  /** Whether EHLO announces STARTTLS. The command works in any case. */
  protected announcesStartTls(): boolean {
    return true
  }

  /** Whether this server implements a command of the package. */
  protected serves(command: string): boolean {
    return served.has(command)
  }

  /** Current message size limit of the session (RFC 1870). */
  protected abstract maxMessageBytes(): number

  /** Throws a refusal if no message may start now. */
  protected abstract checkMessage(): void

  /** Starts a message to the recipients of the session. */
  protected abstract openMessage(report: (error: unknown) => void): MessageIntake

  /**
   * Passes a complete message to the core. Resolves when the message is durable. If it throws a refusal, nothing of the message is stored.
   */
  protected abstract take(intake: MessageIntake): Promise<Taken>

  /** Greets immediately. The package delays the greeting to detect spammers that talk early, which does not help these servers. */
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

  /** Ends the session with 421: immediately, or after the current message. */
  shutDown(): void {
    this.#draining = true
    if (!this.#intake && !this.#taking) this.#leave()
  }

  /** The core is processing a message. Only its outcome decides the reply to the final dot, so the session must not end before. */
  get isTaking(): boolean {
    return this.#taking
  }

  /** Stops counting the session, because it is over even if the client keeps the connection open. */
  override close(): void {
    super.close()
    this.#context.caps.end(this.#acceptedSocket)
  }

  /** Closes the connection without a reply. */
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
    // the TLS handshake that follows must not find buffered output
    if (code === 220) this._socket.uncork()
  }

  /** Returns 4.7.0 for a 421 of the package, which it sends only for protocol abuse. Its own code would mean a timeout. */
  override _getEnhancedStatusCode(code: number, context?: string | false): string {
    return code === 421 && context !== false ? '4.7.0' : super._getEnhancedStatusCode(code, context)
  }

  /** `SessionWatch` enforces the deadlines instead. */
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

  /** Skips STARTTLS if the client has disconnected, because a TLS socket around a destroyed socket would end the process. */
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
    this.send(252, '2.5.2 Cannot verify the address; send a message to test it.')
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

  /** Sends the replies to pipelined commands in one piece. */
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
    if (this.session.envelope.rcptTo.length === 0) return this.send(503, '5.5.1 No recipient was accepted; send RCPT TO first.')
    if (!(parser instanceof ReceptionStream)) return
    const report = (error: unknown): void => this.#context.report(error, this.session)
    this.#intake = this.openMessage(report)
    parser.receive(this)
    this.send(354, 'End data with <CR><LF>.<CR><LF>')
  }

  /** Returns to reading commands, or ends a draining session. */
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
      this.send(501, '5.5.4 The host name is missing or not valid.')
    }
    resume()
  }

  #refuse(error: unknown): void {
    const { responseCode, message } = this.#context.replyTo(error, this.session)
    this.send(responseCode, message)
  }

  /** Reports a refusal and counts it. `text` starts with the enhanced code. */
  #isOneTooMany(code: number, text: string): boolean {
    const [enhanced = ''] = text.split(' ', 1)
    this.#context.events.refused(`${code} ${enhanced}`, factsOf(this.session), text.slice(enhanced.length + 1))
    // A refused address does not count as a protocol error.
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
  this.send(502, '5.5.1 This command is not implemented.')
  resume()
}
