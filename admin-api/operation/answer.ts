/** What an operation answers: the declared shape of it, and the tagged value for answers that are more than a JSON body. */
import type { Readable } from 'node:stream'
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
  /** Lower-case names; they replace the machinery's own. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A good answer with a status, headers or bytes of its own. Made by `answer` and `raw`. */
export class Answer {
  readonly body: AnswerBody
  readonly contentType: string
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(body: AnswerBody, contentType: string, options: AnswerOptions) {
    this.body = body
    this.contentType = contentType
    this.status = options.status
    this.headers = options.headers ?? {}
  }
}

/** A JSON answer with another status, or with headers of its own. */
export function answer<T extends object>(wire: T, options: AnswerOptions): Answer {
  return new Answer(JSON.stringify(wire), 'application/json', options)
}

/** Bytes, whole or as a stream, read as fast as the client takes it; a stream that fails breaks the connection, which the client sees. */
export function raw(body: AnswerBody, options: AnswerOptions & { readonly contentType: string }): Answer {
  return new Answer(body, options.contentType, options)
}
