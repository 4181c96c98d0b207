/**
 * Sends spans to a collector by OTLP over HTTP, in the background. Drops and counts spans while the collector is unavailable. Mail never
 * waits.
 */
import { gzipSync } from 'node:zlib'
import type { Clock, Timer } from '#core/clock.ts'
import type { Post, PostOutcome } from '#core/outbound/post.ts'
import { exportBody, type Span, type SpanEnding, type SpanResource } from './span.ts'

export interface SpanExportOptions {
  /** URL of export requests. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: SpanResource
  readonly post: Post
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  readonly onEnded: (ending: SpanEnding, spans: number) => void
  /** Called when the collector stops accepting spans, with the reason, and when it accepts them again. */
  readonly onAvailable: (isAvailable: boolean, reason: string) => void
}

/** Maximum number of waiting spans. Further spans are dropped. */
const maxWaiting = 4096
const maxBatch = 512
const everyMs = 5000
const deadlineMs = 10_000
/** Delays before a batch is retried, as OTLP recommends for temporary failures. */
const retryMs = [1000, 5000]
const mayWorkLater: ReadonlySet<number> = new Set([429, 502, 503, 504])

export class SpanExport {
  readonly #options: SpanExportOptions
  #waiting: Span[] = []
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  /** Time since which the collector accepts no spans; undefined while it accepts them. */
  failingSince: number | undefined
  readonly #stopping = new AbortController()

  constructor(options: SpanExportOptions) {
    this.#options = options
  }

  add(span: Span): void {
    if (this.#waiting.length >= maxWaiting) return this.#options.onEnded('dropped', 1)
    this.#waiting.push(span)
    if (this.#waiting.length >= maxBatch) this.#send()
    else this.#timer ??= this.#options.clock.after(everyMs, () => this.#send())
  }

  /** Sends waiting spans once. Drops the spans that are not sent within `ms` milliseconds. */
  async stop(ms: number): Promise<void> {
    const timer = this.#options.clock.after(ms, () => this.#stopping.abort())
    this.#send()
    await this.#sending
    timer.cancel()
    this.#stopping.abort()
    this.#drop(this.#waiting.splice(0))
  }

  #send(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined))
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      const batch = this.#waiting.splice(0, maxBatch)
      if (await this.#tried(batch)) this.#options.onEnded('exported', batch.length)
      else this.#drop(batch)
    }
  }

  /** An unexpected error must not end the process. */
  async #tried(batch: readonly Span[]): Promise<boolean> {
    try {
      return await this.#sendBatch(batch)
    } catch (error) {
      this.#options.onError(error)
      return false
    }
  }

  async #sendBatch(batch: readonly Span[]): Promise<boolean> {
    const body = gzipSync(exportBody(batch, this.#options.resource))
    for (const waitMs of [...retryMs, undefined]) {
      const outcome = await this.#post(body)
      const isTaken = 'status' in outcome && outcome.status >= 200 && outcome.status < 300
      if (isTaken || !mayBeTriedAgain(outcome) || waitMs === undefined || this.#stopping.signal.aborted) {
        this.#note(isTaken, outcome)
        return isTaken
      }
      await this.#wait(waitMs)
    }
    return false
  }

  #post(body: Uint8Array): Promise<PostOutcome> {
    const { url, headers, post } = this.#options
    const fields = { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip', 'user-agent': 'Postern' }
    return post({ url, headers: fields, body }, { deadlineMs, maxAnswerBytes: 4096 }, this.#stopping.signal)
  }

  #wait(ms: number): Promise<void> {
    const { clock } = this.#options
    const { signal } = this.#stopping
    return new Promise((resolve) => {
      const timer = clock.after(ms, resolve)
      signal.addEventListener('abort', () => (timer.cancel(), resolve()), { once: true })
    })
  }

  /** Reports each change once. */
  #note(isTaken: boolean, outcome: PostOutcome): void {
    if (isTaken === (this.failingSince === undefined) || this.#stopping.signal.aborted) return
    this.failingSince = isTaken ? undefined : this.#options.clock.now()
    this.#options.onAvailable(isTaken, 'status' in outcome ? `It answered with status ${outcome.status}.` : outcome.problem)
  }

  #drop(spans: readonly Span[]): void {
    if (spans.length > 0) this.#options.onEnded('dropped', spans.length)
  }
}

const mayBeTriedAgain = (outcome: PostOutcome): boolean => !('status' in outcome) || mayWorkLater.has(outcome.status)
