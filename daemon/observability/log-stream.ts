/**
 * Writes log lines to an output of the process, in batches in the background. If the output fails or blocks, lines are dropped and counted.
 * Neither mail nor the exit of the process waits for it.
 */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'
import { performance } from 'node:perf_hooks'

/** Converts a JSON line to the line to write. */
export type LineFormat = (line: string) => string

/** Log lines dropped since the start of the process. */
export interface LogLoss {
  readonly lines: number
  /** Time of the latest drop; undefined without one. */
  readonly at: number | undefined
  /** Reason why the latest batch was not written; undefined while lines are written. */
  readonly problem: string | undefined
}

/** Lines wait for at most a tenth of a second, because a write for each costs more than the line. */
const gatherMs = 100
const maxGathered = 64
const maxWaitingCharacters = 8 * 1024 * 1024
const retryMs = 100
/** Timeout of the last write, which blocks the exit. */
const endMs = 500
const endRetryMs = 10
const lineFeed = 10

/** Writes lines to a file descriptor. The exit of the process writes waiting lines. Without lines, there are no wake-ups. */
export class LogOutput {
  readonly #fd: number
  readonly #format: LineFormat
  #waiting: string[] = []
  #characters = 0
  #batch: Buffer | undefined
  /** A thread is writing the batch. */
  #isWriting = false
  #gathering: NodeJS.Timeout | undefined
  #onWritten: (() => void)[] = []
  /** The last write ended within a line. */
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

  /** Calls `done` when all previous lines are written or dropped. */
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

  /** Adds a line about dropped lines, so that readers of the log notice the gap. */
  #reportLoss(): void {
    const { problem } = this.#loss
    if (problem === undefined) return
    this.#loss = { ...this.#loss, problem: undefined }
    const line = { level: 'warn', time: new Date().toISOString(), lines: this.#unreported, reason: problem, msg: 'log lines were dropped' }
    this.#unreported = 0
    this.write(`${JSON.stringify(line)}\n`)
  }

  /** Writes waiting lines, for a limited time. A batch that a thread is writing is left to the thread. */
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
 * Returns a non-blocking descriptor of the same output. A thread that blocks in a write cannot be stopped, and the process joins its
 * threads at exit.
 */
function withoutWaiting(fd: 1 | 2): number {
  try {
    if (fstatSync(fd).isFile()) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    // a socket, a pipe of another user, or another system: Node makes the descriptor non-blocking when it opens the stream
    return fd === 1 ? process.stdout.fd : process.stderr.fd
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY')

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) lines += 1
  return lines
}

/** Blocks the thread, because the event loop has ended at exit. */
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
