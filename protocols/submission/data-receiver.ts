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

/**
 * Relies on three internals of the package: `_write` hands every chunk to `_feedDataStream` while `_dataMode` is set,
 * also the rest of the chunk that held DATA; and `_write` reads commands again when it is not.
 */
export class SubmissionStream extends SMTPStream {
  #receiver: DataReceiver | undefined

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
