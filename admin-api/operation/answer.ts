/** What an operation answers: the declared shape of it, and the tagged value for answers that are more than a JSON body. */
import { Readable } from 'node:stream'
import type * as z from 'zod'

/** Bytes of some media type instead of JSON. */
export interface MediaShape {
  readonly kind: 'media'
  readonly mediaType: string
}

/** No body at all. */
export interface NoBodyShape {
  readonly kind: 'none'
}

export type ResponseShape = z.ZodType | MediaShape | NoBodyShape

/** Declares an answer of bytes, for example `media('message/rfc822')`. */
export function media(mediaType: string): MediaShape {
  return { kind: 'media', mediaType }
}

/** Declares an answer without a body, to go with status 204. */
export const noBody: NoBodyShape = { kind: 'none' }

export type AnswerBody = string | Uint8Array | ReadableStream<Uint8Array> | Readable

interface AnswerOptions {
  /** Instead of the operation's status. */
  readonly status?: number
  /** The first piece of a stream can take longer than a request may: the answer does not wait for it. */
  readonly isLate?: boolean
  /** Lower-case names; they replace the machinery's own. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A good answer with a status, headers or bytes of its own. Made by `answer` and `raw`. */
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

/** A JSON answer with another status, or with headers of its own. */
export function answer<T extends object>(wire: T, options: AnswerOptions): Answer {
  return new Answer(JSON.stringify(wire), 'application/json', options)
}

/**
 * Bytes, whole or as a stream, read as fast as the client takes it. A stream that fails before its first piece is answered as a refusal.
 * One that fails later breaks the connection, which the client sees.
 */
export function raw(body: AnswerBody, options: AnswerOptions & { readonly contentType: string }): Answer {
  return new Answer(body, options.contentType, options)
}

/**
 * Resolves when a streamed answer has its first piece or has ended, and at once for any other. Rejects when the stream fails before: a
 * refusal can still be the answer. `isOver`: the request has been answered meanwhile.
 */
export async function begun({ body, isLate }: Answer, isOver: () => boolean): Promise<void> {
  if (!(body instanceof Readable) || isLate) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  body.on('error', reject) // stays: a failure between now and the first reader must not end the process
  for (const event of ['readable', 'end', 'close'] as const) body.once(event, resolve)
  try {
    await promise
  } finally {
    for (const event of ['readable', 'end', 'close'] as const) body.off(event, resolve)
  }
  if (body.errored) throw body.errored
  if (isOver()) body.destroy()
}
