/** Parser of smtp-server with our own data mode: no stream and no copy of the content, and our own handling of dots and line ends. */
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'

/** Receives the octets after DATA. */
export interface DataReceiver {
  /**
   * Returns the offset after the final dot, or -1. If there is a promise, wait for it before the next call. Never throws, never rejects.
   */
  feed(chunk: Buffer): number | Promise<number>
  /** Called after a chunk without the end of the message. False stops reading for good. */
  goesOn(): boolean
  /** Called at the end of the message. The parser reads commands again after `resume`. */
  complete(resume: () => void): void
}

type Done = (error?: Error | null) => void
const lineEnd = 0x0a

/**
 * Parser with a data mode. It relies on these internals of the package:
 * - `_write` passes every chunk to `_feedDataStream` while `_dataMode` is set, including the remaining part of the chunk with DATA.
 * - Otherwise `_write` reads commands, and continues within the call while their handlers finish synchronously.
 */
export class ReceptionStream extends SMTPStream {
  #receiver: DataReceiver | undefined
  /** Wraps the reading of several commands in one chunk, so that their replies can be sent together (RFC 2920 §3.2). */
  onPipelined = (read: () => void): void => read()

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', done: Done): void {
    const firstEnd = chunk.indexOf(lineEnd)
    if (this._dataMode || firstEnd < 0 || firstEnd === chunk.length - 1) return super._write(chunk, encoding, done)
    this.onPipelined(() => super._write(chunk, encoding, done))
  }

  /** Passes all octets to the receiver, from the next octet to the end of the message. */
  receive(receiver: DataReceiver): void {
    this.#receiver = receiver
    this._dataMode = true
  }

  override _feedDataStream(chunk: Buffer, done: Done): void {
    const receiver = this.#receiver
    if (!receiver) return done()
    const end = receiver.feed(chunk)
    if (typeof end === 'number') return this.#fed(receiver, chunk, end, done)
    end.then((offset) => this.#fed(receiver, chunk, offset, done)).catch(done)
  }

  #fed(receiver: DataReceiver, chunk: Buffer, end: number, done: Done): void {
    if (this.isClosed) return done()
    if (end < 0) {
      if (receiver.goesOn()) done()
      return
    }
    this.#receiver = undefined
    this._dataMode = false
    receiver.complete(() => this._write(chunk.subarray(end), 'buffer', done))
  }
}
