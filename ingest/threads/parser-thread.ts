/** One parsing thread: answers one request at a time within a processor time and memory limit, and restarts after a failure. */
import { Worker } from 'node:worker_threads'
import type { ReadMessage } from '#core/capture/reading/message-reader.ts'
import type { Clock, Timer } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { UntrackedReason } from '#core/trace/trace-tracking.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { afterProcessorTime } from './thread-time.ts'

// Node checks this limit late: one large allocation beyond it ends the whole process. The parser's input limits keep its heap below a third
// of this value; a test with the most expensive messages proves it.
const heapMiB = 384
/** After a larger message the thread ends immediately, because its heap would keep several times the size of the message. */
const restlessBytes = 1_048_576

/** Replacements that tracking makes in a message. */
export interface TrackingMarks {
  /** Addresses in the order of `trackableLinks`. If undefined, links stay unchanged. */
  readonly links: readonly string[] | undefined
  /** Address of the open tracking image. */
  readonly pixel: string | undefined
}

/** Requests to the thread. `cut`: `raw` contains only the beginning of the message. Links below `ownUrl` are not tracked. */
export type ParserRequest =
  | { readonly kind: 'read'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'attachment'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean; readonly index: number }
  | { readonly kind: 'parts'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'report'; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'links'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string }
  | { readonly kind: 'track'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string; readonly marks: TrackingMarks }

/**
 * Replies of the thread. `links` returns the octets of the request. In `failed`, `sentence` explains the failure to people. `lasting` means
 * that a retry would fail too. `isExhausted` means that the time or memory limit was reached.
 */
export type ParserAnswer =
  | { readonly kind: 'message'; readonly message: ReadMessage }
  | { readonly kind: 'attachment'; readonly bytes: Uint8Array<ArrayBuffer> | undefined }
  | { readonly kind: 'parts'; readonly parts: MessageParts }
  | { readonly kind: 'report'; readonly reading: ReportReading }
  | { readonly kind: 'links'; readonly links: readonly string[]; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'tracked'; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'untracked'; readonly reason: UntrackedReason }
  | { readonly kind: 'failed'; readonly sentence: string; readonly lasting?: boolean; readonly isExhausted?: boolean }

/** Times in milliseconds. */
export interface ParserThreadLimits {
  /** Limit of processor time from the request to its answer, including the start of the thread; see `thread-time.ts`. */
  readonly deadlineMs: number
  /** Maximum idle time; an idle thread is ended. */
  readonly idleMs: number
}

interface Running {
  readonly worker: Worker
  answer: ((answer: ParserAnswer) => void) | undefined
}

export const shuttingDown = { kind: 'failed', sentence: 'The service is shutting down; read the message again later.' } as const

/** Holds at most one thread. After a failure or idle end, the next request starts a new thread. */
export class ParserThread implements AsyncDisposable {
  readonly #entry: URL
  readonly #clock: Clock
  readonly #limits: ParserThreadLimits
  #running: Running | undefined
  #idle: Timer | undefined
  #kept = 0
  #closed = false

  constructor(entry: URL, clock: Clock, limits: ParserThreadLimits) {
    this.#entry = entry
    this.#clock = clock
    this.#limits = limits
  }

  /** True while the thread exists. */
  get running(): boolean {
    return this.#running !== undefined
  }

  /** Starts the thread and keeps it alive when idle. The returned function releases it; call it once. */
  keep(): () => void {
    this.#kept++
    this.#idle?.cancel()
    if (!this.#running && !this.#closed) {
      this.#running = this.#start()
      this.#running.worker.unref()
    }
    return () => {
      this.#kept--
      if (this.#running && !this.#running.answer) this.#rest(this.#running)
    }
  }

  /** Calls `late` when the current or next thread has used `ms` milliseconds of processor time, counted from this call. */
  afterProcessorTime(ms: number, late: () => void): Timer {
    return afterProcessorTime(this.#clock, () => this.#running?.worker, ms, late)
  }

  /**
   * Sends a request. The buffer of `request.raw` is transferred and unusable afterwards. Send the next request only after the answer.
   * `deadlineMs` may be shorter than the usual deadline.
   */
  async ask(request: ParserRequest, deadlineMs: number = this.#limits.deadlineMs): Promise<ParserAnswer> {
    if (this.#closed) return shuttingDown
    this.#idle?.cancel()
    const size = request.raw.length
    const running = (this.#running ??= this.#start())
    const answer = await this.#answer(running, request, deadlineMs)
    if (this.#running === running) this.#rest(running, size > restlessBytes ? 0 : this.#limits.idleMs)
    return answer
  }

  /** Ends the thread and interrupts its request. */
  breakOff(): void {
    if (this.#running) void this.#end(this.#running)
  }

  #rest(running: Running, ms = this.#limits.idleMs): void {
    this.#idle?.cancel()
    if (this.#kept === 0) this.#idle = this.#clock.after(ms, () => void this.#end(running))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#idle?.cancel()
    if (this.#running) await this.#end(this.#running, shuttingDown.sentence)
  }

  async #answer(running: Running, request: ParserRequest, deadlineMs: number): Promise<ParserAnswer> {
    const { promise, resolve } = Promise.withResolvers<ParserAnswer>()
    running.answer = resolve
    const late = (): void => void this.#end(running, 'The message took too long to parse.', true)
    const deadline = afterProcessorTime(this.#clock, () => running.worker, deadlineMs, late)
    // Only a request in flight keeps the process alive.
    running.worker.ref()
    running.worker.postMessage(request, [request.raw.buffer])
    try {
      return await promise
    } finally {
      running.answer = undefined
      deadline.cancel()
      running.worker.unref()
    }
  }

  #start(): Running {
    // The thread parses hostile input. It gets no environment variables, because they may hold secrets.
    const worker = new Worker(this.#entry, { resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {}, execArgv: [] })
    const running: Running = { worker, answer: undefined }
    worker.on('message', (answer: ParserAnswer) => running.answer?.(answer))
    worker.on('error', (error: Error & { code?: string }) => {
      const memory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      void this.#end(running, memory ? 'The message needs too much memory to parse.' : 'The message could not be parsed.', memory)
    })
    worker.on('exit', () => void this.#end(running, 'The message could not be parsed.'))
    return running
  }

  async #end(running: Running, sentence = 'The message could not be parsed.', isExhausted = false): Promise<void> {
    if (this.#running === running) this.#running = undefined
    running.answer?.({ kind: 'failed', sentence, ...(isExhausted && { isExhausted }) })
    await running.worker.terminate()
  }
}
