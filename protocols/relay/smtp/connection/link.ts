/**
 * Connection of a dialog: writes bytes, delivers replies, and has one deadline and one way to break. It may start in clear text and change
 * to TLS. A broken link neither reads nor writes.
 */
import type { Socket } from 'node:net'
import type { Clock, Timer } from '#core/clock.ts'
import type { PeerReply } from '#core/delivery/transport.ts'
import type { AttemptErrorCode, Phase } from '../../attempt-failure.ts'
import { Failure } from '../../attempt-failure.ts'
import { ReplyParser } from './reply-parser.ts'

const hidden = '(removed)'

/** Passes the events of a socket to the current holder of the dialog. */
export class Link {
  /** Receives each reply of the peer. A reply without a receiver breaks the link. */
  onReply: ((reply: PeerReply) => void) | undefined
  /** Called once with the reason when the link breaks. */
  onBroken: ((failure: Failure) => void) | undefined
  /** Current step, for the failure of a broken link. */
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

  /** Reason why the link broke; undefined before. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** Sets secrets to remove from replies, because a hostile peer could repeat them. */
  hide(secrets: readonly string[]): void {
    this.#secrets = secrets.filter((secret) => secret.length > 3)
  }

  /**
   * Sets the deadline and replaces the previous one. A single timer is adjusted when it fires, because a timer for each step would cost
   * more than the step.
   */
  setDeadline(ms: number, code: AttemptErrorCode, phase: Phase): void {
    if (this.#failure !== undefined) return
    this.phase = phase
    this.#deadlineCode = code
    this.#onDue = undefined
    this.#setDue(ms)
  }

  /** Marks the link as idle. Calls `onTired` after `ms` milliseconds, unless a deadline is set before. */
  rest(ms: number, onTired: () => void): void {
    if (this.#failure !== undefined) return
    this.onReply = undefined
    this.#onDue = onTired
    this.#setDue(ms)
  }

  /** Sends a command or a group of commands (RFC 2920 §3.1). */
  write(text: string): void {
    if (this.#failure === undefined) this.#socket.write(text, 'utf8')
  }

  /** Sends pieces and a text in as few system calls as possible. */
  writeTogether(pieces: readonly Uint8Array[], last: string): void {
    if (this.#failure !== undefined) return
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.write(last, 'utf8')
    this.#socket.uncork()
  }

  /** Sends a piece of content. If it returns false, wait for `flushed()` before the next piece. */
  writeContent(piece: Uint8Array): boolean {
    if (this.#failure !== undefined || piece.length === 0) return true
    this.#unflushed += 1
    return this.#socket.write(piece, this.#onFlushed)
  }

  /** Resolves when the operating system has all content, or when the link breaks. */
  flushed(): Promise<void> {
    if (this.#unflushed === 0 || this.#failure !== undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waitingForFlush = resolve
    })
  }

  /** Sends a command of the handshake and returns its reply. Throws the failure if no reply arrives in time. */
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
   * Releases the plain socket for a TLS handshake. Breaks the link if clear-text bytes follow the last reply, because an attacker could
   * pass them off as protected replies.
   */
  release(): Socket | undefined {
    if (!this.#parser.empty) this.break(new Failure('protocol_error', 'tls', 'The host sent data after the reply to STARTTLS.'))
    if (this.#failure !== undefined) return undefined
    this.#ignore(this.#socket)
    return this.#socket
  }

  /** Continues on a TLS socket over the first one. */
  adopt(socket: Socket): void {
    this.#socket = socket
    this.#listen(socket)
  }

  /** Sends QUIT and waits for the peer to close the connection. */
  quit(goodbyeMs: number): void {
    if (this.#failure !== undefined) return
    this.onReply = () => undefined
    this.#socket.end('QUIT\r\n')
    this.setDeadline(goodbyeMs, 'connection_lost', 'final')
  }

  /** Closes the connection immediately and reports the reason to the holder. Only the first reason counts. */
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
    // A later error has no other listener, and must not end the process.
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
    this.break(new Failure('protocol_error', this.phase, 'The host sent a reply without a command.'))
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
