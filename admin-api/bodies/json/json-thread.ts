/**
 * Large JSON bodies are read on a thread of their own: to read a megabyte holds whoever does it for some ten milliseconds, and the
 * main thread serves everybody. Small ones are read where they are, as a thread costs more than they do.
 */
import { Worker } from 'node:worker_threads'
import { invalid } from '#core/refusals.ts'
import { parseJson, type JsonLimits, type JsonReading } from './json-body.ts'

/** Bodies up to this length cost a few milliseconds. */
const maxHereBytes = 131_072
const idleMs = 30_000
/** After such a body the thread ends at once: its heap would keep several times the length. */
const restlessBytes = 1_048_576
/** A body takes several times its length while it is read. */
const heapMiB = 2048
const entry = new URL('./json-worker.ts', import.meta.url)

/** To the thread. The memory of the bytes goes with it. */
export interface JsonTask {
  readonly number: number
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly limits: JsonLimits
}

/** From the thread. */
export interface JsonResult {
  readonly number: number
  readonly reading: JsonReading
}

export class JsonThread implements AsyncDisposable {
  readonly #waiting = new Map<number, PromiseWithResolvers<JsonReading>>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #tasks = 0

  /** The value of a body, whose bytes are unusable afterwards. Throws `validation_failed` for what is not JSON within the limits. */
  async parse(bytes: Buffer, limits: JsonLimits): Promise<unknown> {
    const reading = bytes.length <= maxHereBytes ? parseJson(bytes, limits) : await this.#ask(bytes, limits)
    if ('fault' in reading) throw invalid([{ path: 'body', message: reading.fault }])
    return reading.value
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(this.#worker, new Error('the service is closing'))
  }

  async #ask(bytes: Buffer, limits: JsonLimits): Promise<JsonReading> {
    clearTimeout(this.#idle)
    const { length } = bytes
    const worker = (this.#worker ??= this.#start())
    const number = ++this.#tasks
    const reading = Promise.withResolvers<JsonReading>()
    this.#waiting.set(number, reading)
    worker.ref()
    const owned = new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length)
    worker.postMessage({ number, bytes: owned, limits } satisfies JsonTask, [owned.buffer])
    try {
      return await reading.promise
    } finally {
      this.#waiting.delete(number)
      if (this.#waiting.size === 0) this.#rest(worker, length > restlessBytes ? 0 : idleMs)
    }
  }

  #rest(worker: Worker, ms: number): void {
    worker.unref()
    this.#idle = setTimeout(() => void this.#end(worker), ms).unref()
  }

  #start(): Worker {
    // it reads untrusted input: no environment, so no secret of it either
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {}, execArgv: [] })
    worker.on('message', ({ number, reading }: JsonResult) => this.#waiting.get(number)?.resolve(reading))
    worker.on('error', (error) => void this.#end(worker, error))
    worker.on('exit', () => void this.#end(worker))
    return worker
  }

  async #end(worker: Worker | undefined, error = new Error('the thread that reads JSON has ended')): Promise<void> {
    if (worker === undefined || this.#worker !== worker) return
    this.#worker = undefined
    clearTimeout(this.#idle)
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
    await worker.terminate()
  }
}
