/**
 * Writes log lines to an output of the process, in the background, a batch at a time. An output that fails or stops taking lines costs
 * lines only: they are dropped and counted, and neither mail nor the exit of the process waits for it.
 */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** Turns a line of JSON into the line that is written. */
export type LineFormat = (line: string) => string

/** Log lines that were dropped since the start of the process. */
export interface LogLoss {
  readonly lines: number
  /** Time of the latest drop; undefined if there was none. */
  readonly at: number | undefined
  /** Why the latest batch was not written; undefined while lines are written. */
  readonly problem: string | undefined
}

/** Lines wait for at most a tenth of a second: a write for each would cost more than the line. */
const gatherMs = 100
const maxGathered = 64
const maxWaitingCharacters = 8 * 1024 * 1024
const retryMs = 100
/** Bound of the last write, which blocks the exit. */
const endMs = 500
const endRetryMs = 10
const lineFeed = 10

/** Lines to a file descriptor. What still waits when the process exits is written then. Without lines there are no wake-ups. */
export class LogOutput {
  readonly #fd: number
  readonly #format: LineFormat
  #waiting: string[] = []
  #characters = 0
  #batch: Buffer | undefined
  /** A thread has the batch. */
  #isWriting = false
  #gathering: NodeJS.Timeout | undefined
  #onWritten: (() => void)[] = []
  /** A write stopped within a line. */
  #isTorn = false
  #unreported = 0
  #loss: LogLoss = { lines: 0, at: undefined, problem: undefined }

  constructor(fd: 1 | 2, format: LineFormat = (line) => line) {
    this.#fd = withoutWaiting(fd)
    this.#format = format
    process.on('exit', () => this.#end())
  }

  get loss(): LogLoss {
    return this.#loss
  }

  write(line: string): void {
    const text = this.#format(line)
    if (this.#characters + text.length > maxWaitingCharacters) return this.#drop(1, 'its reader is 8 MiB behind')
    this.#waiting.push(text)
    this.#characters += text.length
    if (this.#waiting.length >= maxGathered) this.#writeNext()
    else this.#gathering ??= setTimeout(() => this.#writeNext(), gatherMs).unref()
  }

  /** Calls `done` when each line so far is written or dropped. */
  flush(done: () => void = () => {}): void {
    this.#onWritten.push(done)
    this.#writeNext()
  }

  #writeNext(): void {
    if (this.#batch) return
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    if (this.#waiting.length === 0) {
      for (const done of this.#onWritten.splice(0)) done()
      return
    }
    this.#batch = this.#takeWaiting()
    this.#writeBatch(this.#batch)
  }

  #takeWaiting(): Buffer {
    const text = this.#waiting.join('')
    this.#waiting = []
    this.#characters = 0
    return Buffer.from(this.#isTorn ? `\n${text}` : text)
  }

  #writeBatch(batch: Buffer): void {
    this.#isWriting = true
    write(this.#fd, batch, (error, written) => {
      this.#isWriting = false
      if (!error) this.#wrote(batch, written)
      else if (isBusy(error)) setTimeout(() => this.#writeBatch(batch), retryMs).unref()
      else this.#failed(batch, error)
    })
  }

  #wrote(batch: Buffer, written: number): void {
    this.#batch = written < batch.length ? batch.subarray(written) : undefined
    if (written > 0) this.#isTorn = batch[written - 1] !== lineFeed
    if (this.#batch) return this.#writeBatch(this.#batch)
    this.#reportLoss()
    this.#writeNext()
  }

  #failed(batch: Buffer, { message }: Error): void {
    this.#batch = undefined
    this.#drop(linesIn(batch), message)
    this.#writeNext()
  }

  #drop(lines: number, problem: string): void {
    this.#unreported += lines
    this.#loss = { lines: this.#loss.lines + lines, at: Date.now(), problem }
  }

  /** Adds a line about the gap that the reader of the log would not see. */
  #reportLoss(): void {
    const { problem } = this.#loss
    if (problem === undefined) return
    this.#loss = { ...this.#loss, problem: undefined }
    const line = { level: 'warn', time: new Date().toISOString(), lines: this.#unreported, reason: problem, msg: 'log lines were dropped' }
    this.#unreported = 0
    this.write(`${JSON.stringify(line)}\n`)
  }

  /** Blocks for a bounded time. A batch that a thread has is left to it. */
  #end(): void {
    const waiting = this.#takeWaiting()
    let rest = this.#batch && !this.#isWriting ? Buffer.concat([this.#batch, waiting]) : waiting
    const until = performance.now() + endMs
    while (rest.length > 0 && performance.now() < until) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest))
      } catch (error) {
        if (!isBusy(error)) return
        pause(endRetryMs)
      }
    }
  }
}

/**
 * A descriptor of the same output that never waits for a reader: a thread that waits in a write could not be ended, and the process
 * joins its threads before it exits.
 */
function withoutWaiting(fd: 1 | 2): number {
  try {
    if (fstatSync(fd).isFile()) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // a socket, a pipe of another user, or another system: Node sets the descriptor itself to not wait when it opens the stream
    return fd === 1 ? process.stdout.fd : process.stderr.fd
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines += 1
  return lines
}

/** There is no event loop any more at the exit of a process. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
