/** Reads a JSON request body from the connection, bounded in bytes; nothing is read before the caller is known. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { invalid, Refusal } from '#core/refusals.ts'
import type { JsonLimits } from './json-body.ts'
import type { JsonThread } from './json-thread.ts'

/** The client closed the connection before its request was complete: there is no one to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Bytes of all bodies now in memory, under one limit for the whole server. */
export class BodyMemory {
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Counts bytes in; throws `overloaded` when all bodies together take too much. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) {
      throw new Refusal('overloaded', 'Too many large requests at once; try again in a few seconds.', { retryAfterSeconds: 5 })
    }
    this.#bytes += bytes
  }

  release(bytes: number): void {
    this.#bytes -= bytes
  }
}

/** Shorter ones do not wait. */
const largeBytes = 262_144

/**
 * Turns of large bodies. Until its request is over, a body takes some ten times its length: its text, its value, the message that is made
 * of it, and what waits for the disk. So those in work together are bounded, and the others wait in the order in which they came.
 */
export class BodyTurns {
  readonly #maxBytes: number
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = []
  #busyBytes = 0

  /** `maxBytes`: of all bodies in work; one alone may have more. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Resolves when the body may be worked on. Each is followed by one `end` with the same number. */
  begin(bytes: number): void | Promise<void> {
    if (bytes < largeBytes) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ bytes, begin: resolve })
    this.#next()
    return promise
  }

  end(bytes: number): void {
    if (bytes < largeBytes) return
    this.#busyBytes -= bytes
    this.#next()
  }

  #next(): void {
    for (;;) {
      const [first] = this.#waiting
      if (!first || (this.#busyBytes > 0 && this.#busyBytes + first.bytes > this.#maxBytes)) return
      this.#waiting.shift()
      this.#busyBytes += first.bytes
      first.begin()
    }
  }
}

export interface BodyLimits extends JsonLimits {
  readonly maxBytes: number
  /** Throws when the octets are not what the request says of them. */
  readonly checkBytes?: ((bytes: Uint8Array) => Promise<void>) | undefined
  /** The setting that says so, if one does. */
  readonly setting?: string | undefined
}

/** What the bodies of all requests share. */
export interface BodyReading {
  readonly memory: BodyMemory
  /** Of bodies under 64 KiB, so that large ones of others do not keep them out. */
  readonly smallMemory: BodyMemory
  readonly turns: BodyTurns
  readonly json: JsonThread
}

/** A body that has been read. */
export interface ReadBody {
  readonly value: unknown
  readonly bytes: number
  /** To be called once, when the request is over. */
  readonly release: () => void
}

/**
 * Reads and parses the body; `undefined` when the request has none. Throws `unsupported_media_type`, `request_too_large`,
 * `validation_failed`, `overloaded` or `ClientGone`.
 */
export async function readJsonBody(
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
  { memory: largeMemory, smallMemory, turns, json }: BodyReading,
): Promise<ReadBody> {
  if (!announcesBody(req)) return { value: undefined, bytes: 0, release: () => {} }
  assertPlainJson(req)
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > limits.maxBytes) throw tooLarge(limits.maxBytes, `this one has ${declared}`, limits.setting)
  if (req.headers.expect !== undefined) res.writeContinue()
  const isSmall = declared > 0 && declared < placedBytesMin
  const memory = isSmall ? smallMemory : largeMemory
  const { bytes, held } = readyBytes(req, limits, memory) ?? (await readBytes(req, limits, memory))
  const { length } = bytes
  let release = (): void => memory.release(held)
  try {
    const { checkBytes, maxBytes: _maxBytes, setting: _setting, ...jsonLimits } = limits
    await checkBytes?.(bytes)
    await turns.begin(length)
    release = () => {
      memory.release(held)
      turns.end(length)
    }
    if (res.destroyed) throw new ClientGone()
    // what goes to the thread of large bodies is data alone
    return { value: length === 0 ? undefined : await json.parse(bytes, jsonLimits), bytes: length, release }
  } catch (error) {
    release()
    throw error
  }
}

/**
 * For an operation that takes no body: an empty one and `{}` pass, whatever their media type; anything else is refused with
 * `validation_failed` and the given message, so that no field is ignored in silence.
 */
export async function readAbsentBody(req: IncomingMessage, res: ServerResponse, memory: BodyMemory, message: string): Promise<void> {
  if (!announcesBody(req)) return
  const refused = invalid([{ path: 'body', message }])
  if (Number(req.headers['content-length'] ?? 0) > maxAbsentBytes) throw refused
  if (req.headers.expect !== undefined) res.writeContinue()
  const { bytes, held } = await readBytes(req, { maxBytes: maxAbsentBytes }, memory)
  memory.release(held)
  if (!/^(?:\s*\{\s*\})?\s*$/.test(bytes.toString('latin1'))) throw refused
}

/** Whether a body follows the header: RFC 9112 §6.3. */
export function announcesBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length']
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0'
}

/** Room for an empty object, however it is laid out. */
const maxAbsentBytes = 1024

const jsonType = /^application\/json *(?:; *charset="?utf-8"? *)?$/i

/** Throws `unsupported_media_type` for a compressed body. */
export function assertNotEncoded(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body as it is, without Content-Encoding.', {
      nextAction: 'remove_content_encoding',
    })
  }
}

function assertPlainJson(req: IncomingMessage): void {
  assertNotEncoded(req)
  const type = req.headers['content-type']
  if (type === 'application/json' || (type !== undefined && jsonType.test(type))) return
  throw new Refusal('unsupported_media_type', 'Send the body as JSON in UTF-8, with the header "Content-Type: application/json".')
}

/** The refusal of a body over the limit. */
export function tooLarge(maxBytes: number, given: string, setting?: string): Refusal {
  const message = `The body may have at most ${maxBytes} bytes; ${given}.${setting === undefined ? '' : ` The operator sets this (${setting}).`}`
  return new Refusal('request_too_large', message, { details: { max_bytes: maxBytes, ...(setting !== undefined && { setting }) } })
}

/** Bodies from this length on are put in their place as they come, instead of being gathered and then joined. */
const placedBytesMin = 65_536
/** Not much more than a connection costs by itself. */
const firstPlaceBytes = 4096

/** A body in one piece of memory that doubles when it is full, up to the declared length: announcing a length takes nothing. */
class GrowingBody {
  readonly #declared: number
  readonly #memory: BodyMemory
  #place: Buffer
  #size = 0

  constructor(declared: number, memory: BodyMemory) {
    memory.take(firstPlaceBytes)
    this.#place = Buffer.allocUnsafeSlow(firstPlaceBytes)
    this.#declared = declared
    this.#memory = memory
  }

  /** Bytes counted in the memory of all bodies. */
  get held(): number {
    return this.#place.length
  }

  get size(): number {
    return this.#size
  }

  /** Throws `overloaded` when all bodies together take too much. */
  add(chunk: Buffer): void {
    const needed = this.#size + chunk.length
    if (needed > this.#place.length) {
      const length = Math.max(needed, Math.min(this.#place.length * 2, this.#declared))
      this.#memory.take(length - this.#place.length)
      const larger = Buffer.allocUnsafeSlow(length)
      this.#place.copy(larger, 0, 0, this.#size)
      ;(this.#place.buffer as ArrayBuffer).transfer(0) // frees it now; the collector would take its time
      this.#place = larger
    }
    chunk.copy(this.#place, this.#size)
    this.#size = needed
  }

  whole(): Buffer {
    return this.#size === this.#place.length ? this.#place : this.#place.subarray(0, this.#size)
  }
}

/** A small body, or one of unknown length. */
class GatheredBody {
  readonly #memory: BodyMemory
  readonly #chunks: Buffer[] = []
  #size = 0

  constructor(memory: BodyMemory) {
    this.#memory = memory
  }

  get held(): number {
    return this.#size
  }

  get size(): number {
    return this.#size
  }

  add(chunk: Buffer): void {
    this.#memory.take(chunk.length)
    this.#chunks.push(chunk)
    this.#size += chunk.length
  }

  whole(): Buffer {
    const [first] = this.#chunks
    return first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
  }
}

/** What came, and the bytes of it that `BodyMemory` counts. */
interface ReadBytes {
  readonly bytes: Buffer
  readonly held: number
}

/** Whether all of the body has come: it ended, or has as many octets as were declared (RFC 9112 §6.3). */
export const isThere = (req: IncomingMessage): boolean =>
  req.complete || (req.readableLength > 0 && req.headers['content-length'] === String(req.readableLength))

/** The body of a request that came in one piece with its header, as most do: nothing has to be waited for. */
export function bytesThere(req: IncomingMessage): Buffer | undefined {
  const bytes = isThere(req) ? (req.read() as Buffer | null) : null
  if (!req.complete && bytes) req.resume() // its end, which Node has not told yet, is heard
  return bytes ?? undefined
}

function readyBytes(req: IncomingMessage, { maxBytes, setting }: Pick<BodyLimits, 'maxBytes' | 'setting'>, memory: BodyMemory) {
  const bytes = bytesThere(req)
  if (bytes === undefined) return undefined
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, 'this one has more', setting)
  memory.take(bytes.length)
  return { bytes, held: bytes.length }
}

function readBytes(
  req: IncomingMessage,
  { maxBytes, setting }: Pick<BodyLimits, 'maxBytes' | 'setting'>,
  memory: BodyMemory,
): Promise<ReadBytes> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadBytes>()
  const declared = Number(req.headers['content-length'] ?? 0)
  let body: GrowingBody | GatheredBody | undefined
  const stop = (error: Error) => {
    req.off('data', onData)
    memory.release(body?.held ?? 0)
    body = undefined
    reject(error)
  }
  const onData = (chunk: Buffer) => {
    try {
      if ((body?.size ?? 0) + chunk.length > maxBytes) throw tooLarge(maxBytes, 'this one has more', setting)
      body ??= declared >= placedBytesMin ? new GrowingBody(declared, memory) : new GatheredBody(memory)
      body.add(chunk)
    } catch (error) {
      return stop(error as Refusal)
    }
  }
  const onError = () => stop(new ClientGone())
  const onEnd = () => {
    req.off('data', onData).off('error', onError) // they would keep the bytes until the request is over
    resolve({ bytes: body?.whole() ?? Buffer.alloc(0), held: body?.held ?? 0 })
  }
  req.on('data', onData).once('end', onEnd).once('error', onError)
  return promise
}

/**
 * Lets the rest of a refused body run into the void, so that the client can read its answer, but not for ever: after
 * `maxBytes` further bytes the connection is cut.
 */
export function discardRest(req: IncomingMessage, maxBytes: number): void {
  let left = maxBytes
  req.removeAllListeners('readable') // of a reader that stopped without an end: with them, nothing would flow
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.destroy()
  })
}
