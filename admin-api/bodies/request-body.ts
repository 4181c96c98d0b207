/** Reads a JSON request body within limits. Reading begins only after the caller is authenticated. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Work } from '#core/fairness/work.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import type { BodyMemory, BodyTurns } from './body-turns.ts'
import type { JsonLimits } from './json/json-body.ts'
import type { JsonThread, ReadJson } from './json/json-thread.ts'

/** The client closed the connection before its request was complete: no response is possible. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Bodies from this length on are read in turns, and memory is reserved for the declared length. */
export const readInTurnsBytes = 65_536
/** Bodies from this length on are processed in turns. */
export const workedInTurnsBytes = 262_144

export interface BodyLimits extends JsonLimits {
  readonly maxBytes: number
  /** Receives the SHA-256 of the body in hexadecimal. Throws if the request declares another digest. */
  readonly checkDigest?: ((sha256: string) => void) | undefined
  /** Name of the setting with this limit, if there is one. */
  readonly setting?: string | undefined
}

/** The caller of the request. */
export type BodyCaller = Pick<Work, 'run' | 'pace' | 'crowd'>

/** Shared state for the bodies of all requests. */
export interface BodyReading {
  /** Memory of bodies that are not read in turns, so that large bodies of other callers do not block them. */
  readonly smallMemory: BodyMemory
  readonly reads: BodyTurns
  readonly works: BodyTurns
  readonly json: JsonThread
}

/** A complete body. */
export interface ReadBody {
  readonly value: unknown
  readonly bytes: number
}

/**
 * Reads and parses the body; returns `undefined` without a body. The work is charged to the caller. Throws
 * `unsupported_media_type`, `request_too_large`, `validation_failed`, `overloaded`, `ClientGone`, and the errors of `checkDigest`.
 */
export async function readJsonBody(req: IncomingMessage, limits: BodyLimits, bodies: BodyReading, held: HeldBody): Promise<ReadBody> {
  if (!announcesBody(req)) return { value: undefined, bytes: 0 }
  assertPlainJson(req)
  const { checkDigest, maxBytes, setting: _setting, ...jsonLimits } = limits
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes, `this one has ${declared}`, limits.setting)
  try {
    using intake = bodies.json.receive()
    const digest = checkDigest && createHash('sha256')
    const size = await receiveBody(req, limits, bodies, held, (chunk) => {
      digest?.update(chunk)
      intake.push(chunk)
    })
    if (digest) checkDigest(digest.digest('hex'))
    if (size >= workedInTurnsBytes) await held.turn(bodies.works, size)
    // the thread of large bodies receives only data
    return { value: size === 0 ? undefined : held.value(await intake.value(jsonLimits)), bytes: size }
  } catch (error) {
    held.release()
    throw error
  }
}

/**
 * For an operation without a body: accepts an empty body and `{}`, with any media type. Throws `validation_failed` with the given message
 * for other bodies, so that no field is silently ignored.
 */
export async function readAbsentBody(req: IncomingMessage, bodies: BodyReading, held: HeldBody, message: string): Promise<void> {
  if (!announcesBody(req)) return
  const refused = invalid([{ path: 'body', message }])
  if (Number(req.headers['content-length'] ?? 0) > maxAbsentBytes) throw refused
  let text = ''
  await receiveBody(req, { maxBytes: maxAbsentBytes }, bodies, held, (chunk) => void (text += chunk.toString('latin1'))).finally(() =>
    held.release(),
  )
  if (!/^(?:\s*\{\s*\})?\s*$/.test(text)) throw refused
}

/** Whether the header announces a body (RFC 9112 §6.3). */
export function announcesBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length']
  return length === undefined ? req.headers['transfer-encoding'] !== undefined : length !== '0'
}

/** Enough for an empty object with any whitespace. */
const maxAbsentBytes = 1024

const jsonType = /^application\/json *(?:; *charset="?utf-8"? *)?$/i

/** Throws `unsupported_media_type` for a compressed body. */
export function assertNotEncoded(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Refusal('unsupported_media_type', 'Send the body uncompressed, without Content-Encoding.', {
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

/** Returns the refusal of a body that exceeds the limit. */
export function tooLarge(maxBytes: number, given: string, setting?: string): Refusal {
  const message = `The body may have at most ${maxBytes} bytes; ${given}.${setting === undefined ? '' : ` The operator sets this (${setting}).`}`
  return new Refusal('request_too_large', message, { details: { max_bytes: maxBytes, ...(setting !== undefined && { setting }) } })
}

/** Whether the body has arrived completely: it ended, or has the declared number of octets (RFC 9112 §6.3). */
export const isThere = (req: IncomingMessage): boolean =>
  req.complete || (req.readableLength > 0 && req.headers['content-length'] === String(req.readableLength))

/** Returns the body without waiting if it arrived completely with the header, as in most requests. */
export function bytesThere(req: IncomingMessage): Buffer | undefined {
  const bytes = isThere(req) ? (req.read() as Buffer | null) : null
  if (!req.complete && bytes) req.resume() // Node has not emitted the end of the body yet
  return bytes ?? undefined
}

/** Resources that a body holds until its request ends. */
export class HeldBody {
  readonly caller: BodyCaller
  readonly res: ServerResponse
  readonly #ends: (() => void)[] = []

  constructor(res: ServerResponse, caller: BodyCaller) {
    this.res = res
    this.caller = caller
  }

  /** Throws `overloaded`. */
  take(memory: BodyMemory, bytes: number): void {
    memory.take(bytes)
    this.#ends.push(() => memory.release(bytes))
  }

  /** Waits for a turn. Throws `overloaded`, and `ClientGone` if the request ends before its turn. */
  async turn(turns: BodyTurns, bytes: number, crowd = this.caller.crowd): Promise<void> {
    const end = await turns.begin(bytes, crowd)
    if (this.#isOver()) {
      end()
      throw new ClientGone()
    }
    this.#ends.push(end)
  }

  value({ value, free }: ReadJson): unknown {
    this.#ends.push(free)
    return value
  }

  assertOpen(): void {
    if (this.#isOver()) throw new ClientGone()
  }

  #isOver(): boolean {
    return this.res.destroyed || this.res.writableEnded
  }

  release(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}

/** Passes the body to `hand` and resolves with its length. A body of `readInTurnsBytes` or more waits for its turn. */
async function receiveBody(
  req: IncomingMessage,
  { maxBytes, setting }: Pick<BodyLimits, 'maxBytes' | 'setting'>,
  { smallMemory, reads }: BodyReading,
  held: HeldBody,
  hand: (chunk: Buffer) => void,
): Promise<number> {
  const declared = Number(req.headers['content-length'] ?? 0)
  const hasTurn = declared >= readInTurnsBytes
  if (hasTurn) await held.turn(reads, declared)
  let size = 0
  const take = (chunk: Buffer): Promise<void> | undefined => {
    const before = size
    const { length } = chunk // `hand` may move the memory of the chunk
    size += length
    if (size > maxBytes) throw tooLarge(maxBytes, 'this one has more', setting)
    hand(chunk)
    if (hasTurn || before >= readInTurnsBytes) return undefined
    if (size >= readInTurnsBytes) return held.turn(reads, maxBytes)
    held.take(smallMemory, length)
    return undefined
  }
  const there = bytesThere(req)
  if (there) await take(there)
  else await receive(req, held, take)
  return size
}

/** Passes on the body as it arrives, paced by the fair share of its caller. */
function receive(req: IncomingMessage, held: HeldBody, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  const { res, caller } = held
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = (error: unknown) => {
    req.off('data', onData)
    reject(error)
  }
  const onData = (chunk: Buffer) => {
    try {
      held.assertOpen()
      const pauses = [caller.run(() => take(chunk)), caller.pace()].filter((pause) => pause !== undefined)
      if (pauses.length === 0) return
      req.pause()
      Promise.all(pauses).then(() => req.resume(), stop)
    } catch (error) {
      stop(error)
    }
  }
  const onError = () => stop(new ClientGone())
  const onEnd = () => {
    req.off('data', onData).off('error', onError) // listeners would retain the bytes until the request ends
    resolve()
  }
  if (req.headers.expect !== undefined) res.writeContinue()
  req.on('data', onData).once('end', onEnd).once('error', onError)
  return promise
}

/**
 * Discards the remaining bytes of a refused body, so that the client can read the response. Closes the connection after `maxBytes` further
 * bytes.
 */
export function discardRest(req: IncomingMessage, maxBytes: number): void {
  let left = maxBytes
  req.removeAllListeners('readable') // left by a reader that stopped early; with these listeners, no data would flow
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.destroy()
  })
  req.resume() // the request may be paused for its caller's turn
}
