/** One parsing thread: asked one thing at a time, under a limit of processor time and of memory, started again after it failed. */
import { Worker } from 'node:worker_threads'
import type { ReadMessage } from '#core/capture/reading/message-reader.ts'
import type { Clock, Timer } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { UntrackedReason } from '#core/trace/trace-tracking.ts'
import type { MessageParts } from '../mime/message-parts.ts'
import { afterProcessorTime } from './thread-time.ts'

// Not a wall: one big allocation beyond it ends the whole process. What the parser may read is bounded so that it needs less
// than a third of this; the test with the greediest messages proves it.
const heapMiB = 384
/** After such a message the thread ends at once: its heap would keep several times the length. */
const restlessBytes = 1_048_576

/** What takes the place of what. */
export interface TrackingMarks {
  /** Addresses in the order of `trackableLinks`; undefined leaves all links alone. */
  readonly links: readonly string[] | undefined
  /** Address of the image that reports an opening. */
  readonly pixel: string | undefined
}

/** `cut` says that `raw` ends before the message does. Links under `ownUrl` are not counted among those to track. */
export type ParserRequest =
  | { readonly kind: 'read'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'attachment'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean; readonly index: number }
  | { readonly kind: 'parts'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'report'; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'links'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string }
  | { readonly kind: 'track'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string; readonly marks: TrackingMarks }

/**
 * `links` gives back what it was asked about. `sentence` says to people why there is no result; `lasting` that another try would end alike,
 * `isExhausted` that it used up its time or memory. */
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
  /** Of processor, from handing over a request to its answer, including the start of the thread; see `thread-time.ts`. */
  readonly deadlineMs: number
  /** A thread that has been idle for so long is ended. */
  readonly idleMs: number
}

interface Running {
  readonly worker: Worker
  answer: ((answer: ParserAnswer) => void) | undefined
}

export const shuttingDown = { kind: 'failed', sentence: 'The service is shutting down; read the message again later.' } as const

/** Holds at most one thread; the next request starts a new one after a failure or a rest. */
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

  /** Whether a thread exists at the moment. */
  get running(): boolean {
    return this.#running !== undefined
  }

  /** Starts the thread, and ends it for no idleness until the returned function is called, once. */
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

  /** Calls `late` when the thread, or the one that is started next, has used so much processor from now on. */
  afterProcessorTime(ms: number, late: () => void): Timer {
    return afterProcessorTime(this.#clock, () => this.#running?.worker, ms, late)
  }

  /** Hands over `request.raw`, which is unusable afterwards. Ask again only after the answer. The deadline may be nearer than usual. */
  async ask(request: ParserRequest, deadlineMs: number = this.#limits.deadlineMs): Promise<ParserAnswer> {
    if (this.#closed) return shuttingDown
    this.#idle?.cancel()
    const size = request.raw.length
    const running = (this.#running ??= this.#start())
    const answer = await this.#answer(running, request, deadlineMs)
    if (this.#running === running) this.#rest(running, size > restlessBytes ? 0 : this.#limits.idleMs)
    return answer
  }

  /** Ends what the thread is doing, and the thread with it. */
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
    // Only work in progress keeps the process alive.
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
    // The thread reads hostile input: it gets no environment, so no secret of it either.
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
