/** Responses of an operation: the declared shape, and a tagged value for responses other than a plain JSON body. */
import { Readable } from 'node:stream'
import type * as z from 'zod'

/** A body of a media type other than JSON. */
export interface MediaShape {
  readonly kind: 'media'
  readonly mediaType: string
}

/** A response without a body. */
export interface NoBodyShape {
  readonly kind: 'none'
}

export type ResponseShape = z.ZodType | MediaShape | NoBodyShape

/** Declares a response of bytes, for example `media('message/rfc822')`. */
export function media(mediaType: string): MediaShape {
  return { kind: 'media', mediaType }
}

/** Declares a response without a body, for status 204. */
export const noBody: NoBodyShape = { kind: 'none' }

export type AnswerBody = string | Uint8Array | ReadableStream<Uint8Array> | Readable

interface AnswerOptions {
  /** Overrides the operation's status. */
  readonly status?: number
  /** The first piece of a stream may take longer than the request deadline, so the response starts without it. */
  readonly isLate?: boolean
  /** Lower-case names; they override default headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A successful response with its own status, headers or bytes. Created by `answer` and `raw`. */
export class Answer {
  readonly body: AnswerBody
  readonly contentType: string
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly isLate: boolean

  constructor(body: AnswerBody, contentType: string, options: AnswerOptions) {
    this.body = body
    this.contentType = contentType
    this.status = options.status
    this.headers = options.headers ?? {}
    this.isLate = options.isLate ?? false
  }
}

/** Returns a JSON response with another status or additional headers. */
export function answer<T extends object>(wire: T, options: AnswerOptions): Answer {
  return new Answer(JSON.stringify(wire), 'application/json', options)
}

/**
 * Returns bytes, whole or as a stream that the client's speed limits. A stream that fails at its first piece becomes a refusal. A later
 * failure closes the connection.
 */
export function raw(body: AnswerBody, options: AnswerOptions & { readonly contentType: string }): Answer {
  return new Answer(body, options.contentType, options)
}

/**
 * Resolves when a stream has its first piece or has ended, and at once for any other body. Rejects if the stream fails earlier, so that a
 * refusal can still be sent. `isOver` returns whether the request already has a response.
 */
export async function begun({ body, isLate }: Answer, isOver: () => boolean): Promise<void> {
  if (!(body instanceof Readable) || isLate) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  body.on('error', reject) // not removed: a failure before the first reader must not end the process
  for (const event of ['readable', 'end', 'close'] as const) body.once(event, resolve)
  try {
    await promise
  } finally {
    for (const event of ['readable', 'end', 'close'] as const) body.off(event, resolve)
  }
  if (body.errored) throw body.errored
  if (isOver()) body.destroy()
}
