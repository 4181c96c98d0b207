/** Streamed bodies, for operations whose bodies are too large for memory. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as z from 'zod'
import { resumeWork } from '#core/fairness/thread-meter.ts'
import { Refusal } from '#core/refusals.ts'
import {
  announcesBody,
  assertNotEncoded,
  bytesThere,
  ClientGone,
  readInTurnsBytes,
  tooLarge,
  workedInTurnsBytes,
  type BodyReading,
  type HeldBody,
} from './request-body.ts'

/** Declares a body that the handler reads as a stream, with a schema for each accepted media type. */
export interface StreamShape {
  readonly kind: 'stream'
  /** By media type, in lower case and without parameters. The schemas are for the OpenAPI document; the handler validates. */
  readonly mediaTypes: Readonly<Record<string, z.ZodType>>
  /** The handler receives the body as sent, compressed or not, regardless of its media type. */
  readonly takesAsSent?: boolean
}

/** A body in transfer. */
export interface BodyStream {
  /** The declared media type, or with `takesAsSent` the Content-Type of the client. */
  readonly mediaType: string
  /**
   * The body, readable once; the client sends no faster than the handler reads. Throws `request_too_large` at the limit, and `ClientGone`.
   * Unread bytes are discarded after the response.
   */
  readonly bytes: AsyncIterable<Uint8Array>
  /**
   * Waits for room in memory. Call it before reading a body that stays in memory until the request ends. `mostBytes`: the part that stays.
   * `crowd`: the owner, if the request names no caller. Throws `overloaded` and `ClientGone`.
   */
  readonly keep: (of?: { readonly mostBytes?: number; readonly crowd?: string }) => Promise<void>
  /**
   * Returns the whole body without waiting if it has arrived completely, as with most short requests; `bytes` is then empty. Returns
   * undefined otherwise. Throws `request_too_large`.
   */
  readonly ready: () => Buffer | undefined
}

/** Declares a streamed body, for example `streamed({'text/csv': z.string()})`. */
export function streamed(mediaTypes: StreamShape['mediaTypes']): StreamShape {
  return { kind: 'stream', mediaTypes }
}

/** Declares a body that the handler receives as sent, since its signature covers those bytes. */
export const asSent = (mediaTypes: StreamShape['mediaTypes']): StreamShape => ({ kind: 'stream', mediaTypes, takesAsSent: true })

export const isStreamed = (body: z.ZodType | StreamShape | undefined): body is StreamShape => body !== undefined && 'kind' in body

/** Is notified when reading begins and when the body is complete. Throws to abort the request. */
export interface BodyWatch {
  began(): void
  ended(): Promise<void>
}

/** How to read a body that the handler keeps in memory. */
interface KeptReading {
  readonly turns: Pick<BodyReading, 'reads' | 'works'>
  readonly held: HeldBody
}

/** Opens the body before any byte is read. Throws `unsupported_media_type` and `request_too_large`. */
export function openBodyStream(
  req: IncomingMessage,
  res: ServerResponse,
  shape: StreamShape,
  maxBytes: number,
  watch: BodyWatch,
  { turns: { reads, works }, held }: KeptReading,
): BodyStream {
  const { mediaTypes, takesAsSent = false } = shape
  if (!takesAsSent) assertNotEncoded(req)
  const given = req.headers['content-type'] ?? ''
  const mediaType = takesAsSent ? given : acceptedType(given, Object.keys(mediaTypes))
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes, `this one has ${declared}`)
  let keptBytes = 0
  const ended = async (size: number): Promise<void> => {
    const kept = Math.min(size, keptBytes)
    if (kept >= workedInTurnsBytes) await held.turn(works, kept)
    await watch.ended()
  }
  return {
    mediaType,
    bytes: bytesOf(req, res, maxBytes, { ...watch, ended, pace: () => held.caller.pace() }),
    ready: () => wholeBody(req, maxBytes),
    keep: async ({ mostBytes = maxBytes, crowd } = {}) => {
      if (!announcesBody(req)) return
      watch.began()
      keptBytes = Math.min(declared > 0 ? declared : maxBytes, mostBytes)
      if (keptBytes >= readInTurnsBytes) await held.turn(reads, keptBytes, crowd)
    },
  }
}

function wholeBody(req: IncomingMessage, maxBytes: number): Buffer | undefined {
  const bytes = bytesThere(req)
  if (bytes && bytes.length > maxBytes) throw tooLarge(maxBytes, 'this one has more')
  return bytes
}

/** A type and its parameters; all accepted types are text in UTF-8. */
const contentType = /^([\w!#$&^.+-]+\/[\w!#$&^.+-]+)((?: *; *[\w-]+=(?:[^\s;"]+|"[^"]*"))*) *$/
const otherCharset = /; *charset=(?!"?utf-8"?(?: *;|$))/

function acceptedType(header: string, accepted: readonly string[]): string {
  const [, type = '', parameters = ''] = contentType.exec(header.trim().toLowerCase()) ?? []
  if (accepted.includes(type) && !otherCharset.test(parameters)) return type
  const text = `Send the body in UTF-8, with the header "Content-Type: ${accepted.join('" or "')}".`
  throw new Refusal('unsupported_media_type', text, { nextAction: 'check_content_type' })
}

interface StreamWatch {
  readonly began: () => void
  /** Resolves when the caller may send more. Returns undefined if it may send at once. */
  readonly pace: () => Promise<void> | undefined
  readonly ended: (size: number) => Promise<void>
}

async function* bytesOf(req: IncomingMessage, res: ServerResponse, maxBytes: number, watch: StreamWatch): AsyncGenerator<Uint8Array> {
  if (!announcesBody(req)) return
  watch.began()
  if (req.headers.expect !== undefined) res.writeContinue()
  let size = 0
  try {
    // leaving the loop must not close the connection, since the handler must still be able to respond
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      const pause = watch.pace()
      if (pause) await pause
      resumeWork()
      size += (chunk as Buffer).length
      if (size > maxBytes) throw tooLarge(maxBytes, 'this one has more')
      yield chunk as Buffer
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new ClientGone()
  }
  await watch.ended(size)
  resumeWork()
}
