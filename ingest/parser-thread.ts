/** One parsing thread: asked one thing at a time, under a deadline and a memory limit, started again after it failed. */
import { Worker } from 'node:worker_threads'
import type { ReadMessage } from '#core/capture/message-reader.ts'
import type { Clock, Timer } from '#core/clock.ts'
import type { ReportReading } from '#core/feedback/event.ts'
import type { UntrackedReason } from '#core/trace/tracking.ts'
import type { MessageParts } from './message-parts.ts'
import type { TrackingMarks } from './tracked-message.ts'

// Not a wall: one big allocation beyond it ends the whole process. What the parser may read is bounded so that it needs less
// than a third of this; the test with the greediest messages proves it.
const heapMiB = 384

/** `cut` says that `raw` ends before the message does. Links under `ownUrl` are not counted among those to track. */
export type ParserRequest =
  | { readonly kind: 'read'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'attachment'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean; readonly index: number }
  | { readonly kind: 'parts'; readonly raw: Uint8Array<ArrayBuffer>; readonly cut: boolean }
  | { readonly kind: 'report'; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'links'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string }
  | { readonly kind: 'track'; readonly raw: Uint8Array<ArrayBuffer>; readonly ownUrl: string; readonly marks: TrackingMarks }

/** `links` gives back what it was asked about. `sentence` says to people why there is no result; `lasting` that another try would end alike. */
export type ParserAnswer =
  | { readonly kind: 'message'; readonly message: ReadMessage }
  | { readonly kind: 'attachment'; readonly bytes: Uint8Array<ArrayBuffer> | undefined }
  | { readonly kind: 'parts'; readonly parts: MessageParts }
  | { readonly kind: 'report'; readonly reading: ReportReading }
  | { readonly kind: 'links'; readonly links: readonly string[]; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'tracked'; readonly raw: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'untracked'; readonly reason: UntrackedReason }
  | { readonly kind: 'failed'; readonly sentence: string; readonly lasting?: boolean }

/** Times in milliseconds. */
export interface ParserThreadLimits {
  /** From handing over a request to its answer, including the start of the thread. */
  readonly deadlineMs: number
  /** A thread that has been idle for so long is ended. */
  readonly idleMs: number
}

interface Running {
  readonly worker: Worker
  answer: ((answer: ParserAnswer) => void) | undefined
}

const shuttingDown = { kind: 'failed', sentence: 'The service is shutting down; read the message again later.' } as const

/** Holds at most one thread; the next request starts a new one after a failure or a rest. */
export class ParserThread implements AsyncDisposable {
  readonly #entry: URL
  readonly #clock: Clock
  readonly #limits: ParserThreadLimits
  #running: Running | undefined
  #idle: Timer | undefined
  #kept = 0
  #last: Promise<unknown> = Promise.resolve()
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

  /** Asks when everything before has its answer. The request is made then, so that what waits costs no more than its caller holds. */
  askInTurn(request: () => ParserRequest): Promise<ParserAnswer> {
    return this.inTurn(() => this.ask(request()), shuttingDown)
  }

  /** Does `work` when everything before it is done, so that it alone asks; once this is disposed of, it answers `closed` instead. */
  inTurn<T>(work: () => Promise<T>, closed: T): Promise<T> {
    const turn = this.#last.then(() => (this.#closed ? closed : work()))
    const forget = (): void => {}
    this.#last = turn.then(forget, forget)
    return turn
  }

  /** Hands over `request.raw`, which is unusable afterwards. Ask again only after the answer. */
  async ask(request: ParserRequest): Promise<ParserAnswer> {
    this.#idle?.cancel()
    const running = (this.#running ??= this.#start())
    const answer = await this.#answer(running, request)
    if (this.#running === running) this.#rest(running)
    return answer
  }

  #rest(running: Running): void {
    this.#idle?.cancel()
    if (this.#kept === 0) this.#idle = this.#clock.after(this.#limits.idleMs, () => void this.#end(running))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    this.#idle?.cancel()
    if (this.#running) await this.#end(this.#running, shuttingDown.sentence)
    await this.#last
  }

  async #answer(running: Running, request: ParserRequest): Promise<ParserAnswer> {
    const { promise, resolve } = Promise.withResolvers<ParserAnswer>()
    running.answer = resolve
    const deadline = this.#clock.after(this.#limits.deadlineMs, () => void this.#end(running, 'The message took too long to parse.'))
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
      void this.#end(running, memory ? 'The message needs too much memory to parse.' : 'The message could not be parsed.')
    })
    worker.on('exit', () => void this.#end(running, 'The message could not be parsed.'))
    return running
  }

  async #end(running: Running, sentence = 'The message could not be parsed.'): Promise<void> {
    if (this.#running === running) this.#running = undefined
    running.answer?.({ kind: 'failed', sentence })
    await running.worker.terminate()
  }
}
