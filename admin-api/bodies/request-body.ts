/** Reads a JSON request body from the connection, bounded in bytes; nothing is read before the caller is known. */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Work } from '#core/fairness/work.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import type { BodyMemory, BodyTurns } from './body-turns.ts'
import type { JsonLimits } from './json/json-body.ts'
import type { JsonThread, ReadJson } from './json/json-thread.ts'

/** The client closed the connection before its request was complete: there is no one to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** Bodies from this length on are read in turns, and put in their place as they come. */
export const readInTurnsBytes = 65_536
/** Bodies from this length on are worked on in turns. */
export const workedInTurnsBytes = 262_144

export interface BodyLimits extends JsonLimits {
  readonly maxBytes: number
  /** Receives the SHA-256 of the body in hexadecimal. Throws if the request declares another digest. */
  readonly checkDigest?: ((sha256: string) => void) | undefined
  /** The setting that says so, if one does. */
  readonly setting?: string | undefined
}

/** Whose body it is. */
export type BodyCaller = Pick<Work, 'run' | 'pace' | 'crowd'>

/** What the bodies of all requests share. */
export interface BodyReading {
  /** Of bodies that are not read in turns, so that large ones of others do not keep them out. */
  readonly smallMemory: BodyMemory
  readonly reads: BodyTurns
  readonly works: BodyTurns
  readonly json: JsonThread
}

/** A body that has been read. */
export interface ReadBody {
  readonly value: unknown
  readonly bytes: number
}

/**
 * Reads and parses the body; `undefined` when the request has none. Its caller is charged for it. Throws `unsupported_media_type`,
 * `request_too_large`, `validation_failed`, `overloaded`, `ClientGone`, and what `checkDigest` throws.
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
    // what goes to the thread of large bodies is data alone
    return { value: size === 0 ? undefined : held.value(await intake.value(jsonLimits)), bytes: size }
  } catch (error) {
    held.release()
    throw error
  }
}

/**
 * For an operation that takes no body: an empty one and `{}` pass, whatever their media type; anything else is refused with
 * `validation_failed` and the given message, so that no field is ignored in silence.
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

/** Whether all of the body has come: it ended, or has as many octets as were declared (RFC 9112 §6.3). */
export const isThere = (req: IncomingMessage): boolean =>
  req.complete || (req.readableLength > 0 && req.headers['content-length'] === String(req.readableLength))

/** The body of a request that came in one piece with its header, as most do: nothing has to be waited for. */
export function bytesThere(req: IncomingMessage): Buffer | undefined {
  const bytes = isThere(req) ? (req.read() as Buffer | null) : null
  if (!req.complete && bytes) req.resume() // its end, which Node has not told yet, is heard
  return bytes ?? undefined
}

/** What a body holds until its request is over. */
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

  /** Waits for its turn. Throws `overloaded`, and `ClientGone` when the request is over meanwhile. */
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

/** Hands over the body as it comes, no faster than its caller may go on. */
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
    req.off('data', onData).off('error', onError) // they would keep the bytes until the request is over
    resolve()
  }
  if (req.headers.expect !== undefined) res.writeContinue()
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
  req.resume() // it may wait for its caller's turn
}
