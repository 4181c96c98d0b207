/**
 * Streams changes of lists as Server-Sent Events (WHATWG HTML, section "Server-sent events"). Each event names a changed list, which the
 * client then reads again. Changes during a slow read are combined. The number of streams is limited for each caller and in total.
 */
import type { Principal } from '../access/principal/principal.ts'
import { listed } from '../access/principal/lists.ts'
import type { Timer } from '../clock.ts'
import type { Core } from '../core.ts'
import { Refusal } from '../refusals.ts'
import type { Changes, ListChange } from './changes.ts'
import { OpenStreams } from './open-streams.ts'

export interface ChangeStreamsOptions extends Core {
  readonly changes: Changes
}

export interface StreamRequest {
  readonly projectId?: string | undefined
  /**
   * Id of the last event that a reconnecting client received. The stream then starts with `reset`, so that the client reads all lists
   * again.
   */
  readonly lastEventId?: string | undefined
  /** Throws if the caller has lost access. */
  readonly stillAllowed: () => Promise<unknown>
}

/** Interval of access checks and keep-alive comments. A caller that lost access gets no events after this time. */
const beatMs = 15_000
/** Changes within this time are combined in one event. */
const gatherMs = 250
const retryMs = 3000
const encoder = new TextEncoder()

export class ChangeStreams {
  readonly #options: ChangeStreamsOptions
  readonly #open = new Set<Stream>()
  readonly #streams = new OpenStreams('streams of changes')
  #isClosed = false

  constructor(options: ChangeStreamsOptions) {
    this.#options = options
  }

  /** Number of open streams. */
  get size(): number {
    return this.#open.size
  }

  /** Throws `not_found` for a project that the caller cannot reach, and `rate_limit_exceeded` if too many streams are open. */
  async open(principal: Principal, { projectId, lastEventId, stillAllowed }: StreamRequest): Promise<ReadableStream<Uint8Array>> {
    const { project } = await listed(this.#options, principal, projectId)
    if (this.#isClosed)
      throw new Refusal('overloaded', 'The service is restarting; repeat the request in a few seconds.', { retryAfterSeconds: 2 })
    const leave = this.#streams.enter(principal)
    const { changes, clock } = this.#options
    const stream = new Stream({ ...this.#options, stillAllowed, isAgain: lastEventId !== undefined, id: clock.now() })
    const stopWatching = changes.watch({ organizationId: principal.organizationId, projectId: project }, (change) => stream.add(change))
    this.#open.add(stream)
    stream.onEnd = () => {
      stopWatching()
      leave()
      this.#open.delete(stream)
    }
    return stream.readable
  }

  /** Ends all streams and refuses new streams. */
  close(): void {
    this.#isClosed = true
    for (const stream of [...this.#open]) stream.close()
  }
}

interface StreamOptions extends ChangeStreamsOptions {
  readonly stillAllowed: () => Promise<unknown>
  readonly isAgain: boolean
  /** Event ids continue from this number. */
  readonly id: number
}

class Stream {
  readonly readable: ReadableStream<Uint8Array>
  readonly #options: StreamOptions
  readonly #waiting = new Map<string, ListChange>()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #timer: Timer | undefined
  #beat: Timer | undefined
  #lastId: number
  onEnd: () => void = () => {}

  constructor(options: StreamOptions) {
    this.#options = options
    this.#lastId = options.id
    this.readable = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller
        this.#write(`retry: ${retryMs}\n`, options.isAgain ? 'reset' : 'open', {})
        this.#rest()
      },
      pull: () => this.#soon(),
      cancel: () => this.close(),
    })
  }

  add(change: ListChange): void {
    const key = `${change.list} ${change.projectId ?? ''}`
    const before = this.#waiting.get(key)?.added ?? 0
    this.#waiting.set(key, { ...change, added: before + change.added })
    this.#soon()
  }

  close(): void {
    const controller = this.#controller
    if (!controller) return
    this.#controller = undefined
    this.#timer?.cancel()
    this.#beat?.cancel()
    this.onEnd()
    try {
      controller.close()
    } catch {
      // the reader has already disconnected
    }
  }

  /** Skips the write while the reader's buffer is full. */
  #soon(): void {
    if (this.#timer || this.#waiting.size === 0 || (this.#controller?.desiredSize ?? 0) <= 0) return
    this.#timer = this.#options.clock.after(gatherMs, () => {
      this.#timer = undefined
      void this.#check(() => {
        const changes = [...this.#waiting.values()]
        this.#waiting.clear()
        for (const { list, projectId, added } of changes) this.#write('', 'change', { list, project_id: projectId, added })
      })
    })
  }

  #rest(): void {
    this.#beat = this.#options.clock.after(beatMs, () => {
      void this.#check(() => {
        if ((this.#controller?.desiredSize ?? 0) > 0) this.#controller?.enqueue(encoder.encode(': still here\n\n'))
        this.#rest()
      })
    })
  }

  /** Closes the stream if the caller has lost access. */
  async #check(then: () => void): Promise<void> {
    try {
      await this.#options.stillAllowed()
    } catch {
      return this.close()
    }
    if (this.#controller) then()
  }

  #write(head: string, event: string, data: Readonly<Record<string, unknown>>): void {
    this.#controller?.enqueue(encoder.encode(`${head}id: ${String(++this.#lastId)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`))
  }
}
