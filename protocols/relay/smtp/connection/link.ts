/**
 * One connection as the dialog sees it: bytes out, replies in, one deadline, and one way to break. It may start plain
 * and become TLS. After a break nothing comes in and nothing goes out any more.
 */
import type { Socket } from 'node:net'
import type { Clock, Timer } from '#core/clock.ts'
import type { PeerReply } from '#core/delivery/transport.ts'
import type { AttemptErrorCode, Phase } from '../../attempt-failure.ts'
import { Failure } from '../../attempt-failure.ts'
import { ReplyParser } from './reply-parser.ts'

const hidden = '(removed)'

/** The events of a socket go through here to whoever holds the dialog at the moment. */
export class Link {
  /** Gets each reply of the peer. An unexpected reply breaks the link. */
  onReply: ((reply: PeerReply) => void) | undefined
  /** Called once with the reason why the link broke. */
  onBroken: ((failure: Failure) => void) | undefined
  /** The step in progress, for the report of a break. */
  phase: Phase = 'greeting'

  readonly #clock: Clock
  readonly #parser = new ReplyParser()
  #socket: Socket
  #failure: Failure | undefined
  #secrets: readonly string[] = []
  #unflushed = 0
  #waitingForFlush: (() => void) | undefined
  #deadlineCode: AttemptErrorCode = 'connection_lost'
  #onDue: (() => void) | undefined
  #dueAt = Infinity
  #timer: Timer | undefined
  #timerDueAt = Infinity

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    this.#listen(socket)
  }

  /** Why the link broke; undefined while it stands. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Texts that must not come back to us in a reply, as a hostile peer could arrange. */
  hide(secrets: readonly string[]): void {
    this.#secrets = secrets.filter((secret) => secret.length > 3)
  }

  /**
   * Sets the one deadline; a later one replaces it. A single timer follows it at a distance, because starting and
   * stopping one per step would cost more than the step.
   */
  setDeadline(ms: number, code: AttemptErrorCode, phase: Phase): void {
    if (this.#failure !== undefined) return
    this.phase = phase
    this.#deadlineCode = code
    this.#onDue = undefined
    this.#setDue(ms)
  }

  /** Nothing is going on. After the time given `onTired` is called, unless a deadline has been set by then. */
  rest(ms: number, onTired: () => void): void {
    if (this.#failure !== undefined) return
    this.onReply = undefined
    this.#onDue = onTired
    this.#setDue(ms)
  }

  /** Sends a command or a group of them (RFC 2920 §3.1). */
  write(text: string): void {
    if (this.#failure === undefined) this.#socket.write(text, 'utf8')
  }

  /** Sends pieces that belong together in as few system calls as can be. */
  writeTogether(pieces: readonly Uint8Array[], last: string): void {
    if (this.#failure !== undefined) return
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.write(last, 'utf8')
    this.#socket.uncork()
  }

  /** Sends a piece of content. Returns false when the next one should wait for `flushed()`. */
  writeContent(piece: Uint8Array): boolean {
    if (this.#failure !== undefined || piece.length === 0) return true
    this.#unflushed += 1
    return this.#socket.write(piece, this.#onFlushed)
  }

  /** Resolves when all content has been handed to the system, or the link is broken. */
  flushed(): Promise<void> {
    if (this.#unflushed === 0 || this.#failure !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waitingForFlush = resolve
    })
  }

  /** Sends a command of the handshake and waits for its reply. Throws the failure when there is none in time. */
  ask(command: string, ms: number, code: AttemptErrorCode, phase: Phase): Promise<PeerReply> {
    this.setDeadline(ms, code, phase)
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      this.onBroken = reject
      this.onReply = (reply) => {
        this.onReply = undefined
        resolve(reply)
      }
      if (command !== '') this.write(command)
    })
  }

  /**
   * Gives the bare socket away for a TLS handshake. Bytes that came in clear after the last reply would otherwise be
   * taken for the peer's protected words, so they break the link.
   */
  release(): Socket | undefined {
    if (!this.#parser.empty) this.break(new Failure('protocol_error', 'tls', 'There were more bytes after the reply to STARTTLS.'))
    if (this.#failure !== undefined) return undefined
    this.#ignore(this.#socket)
    return this.#socket
  }

  /** Goes on over another socket, which is TLS over the first. */
  adopt(socket: Socket): void {
    this.#socket = socket
    this.#listen(socket)
  }

  /** Ends the connection politely; the peer gets a moment to close it. */
  quit(goodbyeMs: number): void {
    if (this.#failure !== undefined) return
    this.onReply = () => undefined
    this.#socket.end('QUIT\r\n')
    this.setDeadline(goodbyeMs, 'connection_lost', 'final')
  }

  /** Ends the connection at once and passes the reason to the holder. Only the first reason counts. */
  break(failure: Failure): void {
    if (this.#failure !== undefined) return
    this.#failure = failure
    this.#timer?.cancel()
    this.#ignore(this.#socket)
    this.#socket.destroy()
    this.#waitingForFlush?.()
    this.onReply = undefined
    this.onBroken?.(failure)
  }

  #listen(socket: Socket): void {
    socket.on('data', this.#onData).on('error', this.#onError).on('end', this.#onEnd).on('close', this.#onEnd)
  }

  #ignore(socket: Socket): void {
    socket.off('data', this.#onData).off('error', this.#onError).off('end', this.#onEnd).off('close', this.#onEnd)
    // An error that comes now has no listener, but must not end the process.
    socket.on('error', () => undefined)
  }

  readonly #onFlushed = (): void => {
    this.#unflushed -= 1
    if (this.#unflushed > 0) return
    this.#waitingForFlush?.()
    this.#waitingForFlush = undefined
  }

  readonly #onData = (chunk: Buffer): void => {
    const problem = this.#parser.push(chunk, this.#onParsed)
    if (problem !== undefined) this.break(new Failure('protocol_error', this.phase, problem))
  }

  readonly #onParsed = (reply: PeerReply): void => {
    if (this.#failure !== undefined) return
    if (this.onReply !== undefined) return this.onReply(this.#secrets.length === 0 ? reply : this.#withoutSecrets(reply))
    if (reply.code === 421) return this.break(new Failure('peer_closing', this.phase, undefined, reply))
    this.break(new Failure('protocol_error', this.phase, 'A reply came that nothing had asked for.'))
  }

  #withoutSecrets(reply: PeerReply): PeerReply {
    if (!this.#secrets.some((secret) => reply.text.includes(secret))) return reply
    return { ...reply, text: this.#secrets.reduce((text, secret) => text.replaceAll(secret, hidden), reply.text) }
  }

  readonly #onError = (error: Error): void => {
    this.break(new Failure('connection_lost', this.phase, `(${'code' in error ? String(error.code) : 'error'})`))
  }

  readonly #onEnd = (): void => {
    this.break(new Failure('connection_lost', this.phase))
  }

  #setDue(ms: number): void {
    this.#dueAt = this.#clock.monotonic() + ms
    if (this.#dueAt < this.#timerDueAt) this.#startTimer(ms)
  }

  #startTimer(ms: number): void {
    this.#timer?.cancel()
    this.#timerDueAt = this.#clock.monotonic() + ms
    this.#timer = this.#clock.after(ms, this.#onTimer)
  }

  readonly #onTimer = (): void => {
    this.#timerDueAt = Infinity
    if (this.#failure !== undefined) return
    const left = this.#dueAt - this.#clock.monotonic()
    if (left > 0) this.#startTimer(left)
    else if (this.#onDue !== undefined) this.#onDue()
    else this.break(new Failure(this.#deadlineCode, this.phase))
  }
}
