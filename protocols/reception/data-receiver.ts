/** The parser of smtp-server with a data mode of our own: no stream in between, no copy, and our reading of dots and line ends. */
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js'

/** Takes the octets after DATA. */
export interface DataReceiver {
  /** The offset after the final dot, or -1; a promise asks to wait. Never throws, never rejects. */
  feed(chunk: Buffer): number | Promise<number>
  /** More came after a chunk without the end; false ends the reading for good. */
  goesOn(): boolean
  /** The end was seen. Commands are read again once `resume` was called. */
  complete(resume: () => void): void
}

type Done = (error?: Error | null) => void
const lineEnd = 0x0a

/**
 * Relies on three internals of the package: `_write` hands every chunk to `_feedDataStream` while `_dataMode` is set,
 * also the rest of the chunk that held DATA; and `_write` reads commands again when it is not, one after the other within
 * the call for as long as their handlers answer at once.
 */
export class ReceptionStream extends SMTPStream {
  #receiver: DataReceiver | undefined
  /** Does the reading of several commands that came together, so that their replies can go out together (RFC 2920 §3.2). */
  onPipelined = (read: () => void): void => read()

  override _write(chunk: Buffer, encoding: BufferEncoding | 'buffer', done: Done): void {
    const firstEnd = chunk.indexOf(lineEnd)
    if (this._dataMode || firstEnd < 0 || firstEnd === chunk.length - 1) return super._write(chunk, encoding, done)
    this.onPipelined(() => super._write(chunk, encoding, done))
  }

  /** From the next octet on, until the end of the message, everything goes to the receiver. */
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
