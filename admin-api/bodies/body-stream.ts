/** Bodies that are read as they come, for operations that take more than memory should hold. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type * as z from 'zod'
import { resumeWork } from '#core/fairness/thread-meter.ts'
import { Refusal } from '#core/refusals.ts'
import { announcesBody, assertNotEncoded, bytesThere, ClientGone, tooLarge } from './request-body.ts'

/** Declares a body that the handler reads as a stream, with a schema for each media type that it takes. */
export interface StreamShape {
  readonly kind: 'stream'
  /** By media type, in lower case and without parameters. The schemas are for the OpenAPI document; the handler checks. */
  readonly mediaTypes: Readonly<Record<string, z.ZodType>>
  /** Whatever the header fields call the body, the handler gets it as it was sent, compressed or not. */
  readonly takesAsSent?: boolean
}

/** A body on its way in. */
export interface BodyStream {
  /** One of the declared ones; what the client wrote where the body is taken as sent. */
  readonly mediaType: string
  /**
   * The body, to be read once; the client sends no faster than it is read. Throws `request_too_large` at the limit, and
   * `ClientGone`. What is not read is thrown away after the answer.
   */
  readonly bytes: AsyncIterable<Uint8Array>
  /**
   * The whole body, where all of it is there already, as it is of most requests that are short: nothing is waited for, and `bytes` has no
   * more. Undefined otherwise. Throws `request_too_large`.
   */
  readonly ready: () => Buffer | undefined
}

/** Declares a streamed body, for example `streamed({'text/csv': z.string()})`. */
export function streamed(mediaTypes: StreamShape['mediaTypes']): StreamShape {
  return { kind: 'stream', mediaTypes }
}

/** Declares a body that is taken as it was sent: its signature is over those bytes. */
export const asSent = (mediaTypes: StreamShape['mediaTypes']): StreamShape => ({ kind: 'stream', mediaTypes, takesAsSent: true })

export const isStreamed = (body: z.ZodType | StreamShape | undefined): body is StreamShape => body !== undefined && 'kind' in body

/** Is notified of when the reading begins and of when the whole body is there; throws when the request is not to go on. */
export interface BodyWatch {
  began(): void
  ended(): Promise<void>
}

/** Opens the body before anything of it is read. Throws `unsupported_media_type` and `request_too_large`. */
export function openBodyStream(
  req: IncomingMessage,
  res: ServerResponse,
  shape: StreamShape,
  maxBytes: number,
  watch: BodyWatch,
): BodyStream {
  const { mediaTypes, takesAsSent = false } = shape
  if (!takesAsSent) assertNotEncoded(req)
  const given = req.headers['content-type'] ?? ''
  const mediaType = takesAsSent ? given : acceptedType(given, Object.keys(mediaTypes))
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes, `this one has ${declared}`)
  return { mediaType, bytes: bytesOf(req, res, maxBytes, watch), ready: () => wholeBody(req, maxBytes) }
}

function wholeBody(req: IncomingMessage, maxBytes: number): Buffer | undefined {
  const bytes = bytesThere(req)
  if (bytes && bytes.length > maxBytes) throw tooLarge(maxBytes, 'this one has more')
  return bytes
}

/** A type and its parameters; all of our types are text, which must be UTF-8. */
const contentType = /^([\w!#$&^.+-]+\/[\w!#$&^.+-]+)((?: *; *[\w-]+=(?:[^\s;"]+|"[^"]*"))*) *$/
const otherCharset = /; *charset=(?!"?utf-8"?(?: *;|$))/

function acceptedType(header: string, accepted: readonly string[]): string {
  const [, type = '', parameters = ''] = contentType.exec(header.trim().toLowerCase()) ?? []
  if (accepted.includes(type) && !otherCharset.test(parameters)) return type
  const words = `Send the body in UTF-8, with the header "Content-Type: ${accepted.join('" or "')}".`
  throw new Refusal('unsupported_media_type', words, { nextAction: 'check_content_type' })
}

async function* bytesOf(req: IncomingMessage, res: ServerResponse, maxBytes: number, watch: BodyWatch): AsyncGenerator<Uint8Array> {
  if (!announcesBody(req)) return
  watch.began()
  if (req.headers.expect !== undefined) res.writeContinue()
  let size = 0
  try {
    // a handler that stops reading must still be able to answer, so leaving the loop must not close the connection
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      resumeWork()
      size += (chunk as Buffer).length
      if (size > maxBytes) throw tooLarge(maxBytes, 'this one has more')
      yield chunk as Buffer
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new ClientGone()
  }
  await watch.ended()
  resumeWork()
}
