/**
 * Changes of lists as Server-Sent Events (WHATWG HTML, section "Server-sent events"): each says that a list has changed, so that who shows
 * it reads it again. Changes that come while the reader is busy are added up; streams are few for each caller and in all.
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
  /** What the caller had seen last, where it comes back: it is told to read everything again. */
  readonly lastEventId?: string | undefined
  /** Throws once the caller may not read any more. */
  readonly stillAllowed: () => Promise<unknown>
}

/** A caller that may not read any more hears nothing later than this, and a proxy sees the stream alive. */
const beatMs = 15_000
/** Changes within this time are one event. */
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

  /** How many are open. */
  get size(): number {
    return this.#open.size
  }

  /** Throws `not_found` for a project out of reach, and `rate_limit_exceeded` when too many streams are open. */
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

  /** Ends all streams, and lets no other begin. */
  close(): void {
    this.#isClosed = true
    for (const stream of [...this.#open]) stream.close()
  }
}

interface StreamOptions extends ChangeStreamsOptions {
  readonly stillAllowed: () => Promise<unknown>
  readonly isAgain: boolean
  /** Ids of events go on from it. */
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
      // the reader has gone already
    }
  }

  /** Not while the reader has not taken what was written before. */
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

  /** Who may not read any more gets nothing more. */
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
