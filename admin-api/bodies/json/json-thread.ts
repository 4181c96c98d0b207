/**
 * Parses JSON bodies. A large body goes to a separate thread, piece by piece as it arrives. Parsing a megabyte takes about ten
 * milliseconds, and a large body in the memory of the main thread causes garbage collections. A small body is parsed on the main thread,
 * which costs less than a message to another thread.
 */
import { Worker } from 'node:worker_threads'
import { invalid } from '#core/refusals.ts'
import { parseJson, type JsonLimits, type JsonReading } from './json-body.ts'
import { freeLongTexts, putLongTexts, type LongText } from './long-texts.ts'

/** Bodies up to this length cost a few milliseconds. */
const maxHereBytes = 131_072
/** A piece of this length or more moves to the thread without a copy. */
const movedBytes = 16_384
/** Shorter pieces are joined up to this length, because a client can send single octets. */
const stageBytes = 65_536
const idleMs = 30_000
/** After a body of this length or more, the thread ends at once: its heap would retain several times the length. */
const restlessBytes = 1_048_576
/** A body takes several times its length while it is parsed. */
const heapMiB = 2048
const entry = new URL('./json-worker.ts', import.meta.url)

/** Message to the thread: a piece of a body, or the end of a body. The memory of the octets moves with the message. */
export interface JsonTask {
  readonly number: number
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Set when the body is complete. A message without `bytes` and `limits` discards the body. */
  readonly limits?: JsonLimits | undefined
}

interface Read {
  /** Without the long texts. */
  readonly reading: JsonReading
  readonly texts: readonly LongText[]
}

/** Message from the thread. */
export interface JsonResult extends Read {
  readonly number: number
}

export interface ReadJson {
  readonly value: unknown
  /** Frees the unread long texts. Reading such a text afterwards throws. */
  readonly free: () => void
}

/** A body in transfer. Dispose of it in every case. */
export interface JsonIntake extends Disposable {
  /** Adds a piece. The caller must not use its memory afterwards. */
  push(bytes: Buffer): void
  /** Parses the complete body. Throws `validation_failed` if it is not JSON or exceeds the limits. */
  value(limits: JsonLimits): Promise<ReadJson>
}

/** A body on the thread. */
interface AwayBody {
  push(piece: Buffer): void
  read(limits: JsonLimits): Promise<Read>
  end(size: number): void
}

export class JsonThread implements AsyncDisposable {
  /** Results of the bodies on the thread, by number. */
  readonly #open = new Map<number, PromiseWithResolvers<Read>>()
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #tasks = 0

  receive(): JsonIntake {
    const here: Buffer[] = []
    let size = 0
    let away: AwayBody | undefined
    return {
      push: (bytes) => {
        here.push(bytes)
        size += bytes.length
        if (size <= maxHereBytes) return
        away ??= this.#begin()
        for (const each of here.splice(0)) away.push(each)
      },
      value: async (limits) => read(away ? await away.read(limits) : { reading: parseJson(whole(here), limits), texts: [] }),
      [Symbol.dispose]: () => away?.end(size),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(this.#worker, new Error('the service is closing'))
  }

  #begin(): AwayBody {
    clearTimeout(this.#idle)
    const worker = (this.#worker ??= this.#start())
    const number = ++this.#tasks
    const result = Promise.withResolvers<Read>()
    result.promise.catch(() => undefined) // the body may be discarded before it is parsed
    this.#open.set(number, result)
    worker.ref()
    const post = (bytes: Uint8Array<ArrayBuffer>) => worker.postMessage({ number, bytes } satisfies JsonTask, [bytes.buffer])
    let stage = Buffer.allocUnsafeSlow(stageBytes)
    let staged = 0
    const flush = () => {
      if (staged === 0) return
      post(new Uint8Array(stage.buffer, 0, staged))
      stage = Buffer.allocUnsafeSlow(stageBytes)
      staged = 0
    }
    return {
      push: (piece) => {
        const isOwn = piece.length === piece.buffer.byteLength
        if (isOwn && piece.length >= movedBytes) {
          flush()
          return post(new Uint8Array(piece.buffer as ArrayBuffer))
        }
        for (let at = 0; at < piece.length;) {
          const taken = piece.copy(stage, staged, at)
          at += taken
          staged += taken
          if (staged === stageBytes) flush()
        }
        if (isOwn) (piece.buffer as ArrayBuffer).transfer(0) // otherwise V8 counts the memory until the next collection
      },
      read: (limits) => {
        flush()
        worker.postMessage({ number, limits } satisfies JsonTask)
        return result.promise
      },
      end: (size) => {
        if (!this.#open.delete(number)) return
        worker.postMessage({ number, limits: undefined } satisfies JsonTask)
        if (this.#open.size === 0) this.#rest(worker, size > restlessBytes ? 0 : idleMs)
      },
    }
  }

  #rest(worker: Worker, ms: number): void {
    worker.unref()
    this.#idle = setTimeout(() => void this.#end(worker), ms).unref()
  }

  #start(): Worker {
    // the thread parses untrusted input: no environment, and so no secrets of it
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMiB }, env: {}, execArgv: [] })
    worker.on('message', ({ number, ...result }: JsonResult) => this.#open.get(number)?.resolve(result))
    worker.on('error', (error) => void this.#end(worker, error))
    worker.on('exit', () => void this.#end(worker))
    return worker
  }

  async #end(worker: Worker | undefined, error = new Error('the thread that reads JSON has ended')): Promise<void> {
    if (worker === undefined || this.#worker !== worker) return
    this.#worker = undefined
    clearTimeout(this.#idle)
    for (const { reject } of this.#open.values()) reject(error)
    this.#open.clear()
    await worker.terminate()
  }
}

function read({ reading, texts }: Read): ReadJson {
  if ('fault' in reading) throw invalid([{ path: 'body', message: reading.fault }])
  putLongTexts(reading, texts)
  return { value: reading.value, free: () => freeLongTexts(texts) }
}

const whole = (pieces: readonly Buffer[]): Buffer => (pieces.length === 1 && pieces[0]) || Buffer.concat(pieces)
