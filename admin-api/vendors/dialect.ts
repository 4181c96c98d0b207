/**
 * The API of another mail service. Its clients work here after a change of the address and the key. A dialect only translates: a request
 * into messages of `POST /v1/messages`, and results and refusals into the format of the service.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type * as z from 'zod'
import type { Refusal, RefusalCode } from '#core/refusals.ts'
import type { BatchResult } from '#core/submission/doors/send-batches.ts'
import type { Acceptance } from '#core/submission/submission.ts'
import type { Answer } from '../operation/answer.ts'
import type { Method } from '../operation/operation.ts'
import type { Labelled } from './body/labels.ts'
import type { SentMail } from './sent-mail.ts'

export interface Dialect {
  /** Name of the service in its own spelling. */
  readonly name: string
  /** Set if clients sign requests by AWS Signature Version 4. */
  readonly signsRequests?: true
  readonly sends: readonly DialectSend[]
  /** Calls other than sending: look-ups, and changes of scheduled mail. */
  readonly calls?: readonly DialectCall[]
  /**
   * Matches header fields that are commands to the service. They are removed from the mail. The trace lists commands without effect here.
   */
  readonly orderFields?: RegExp
  /** Keeps the Message-ID of the request: always, or if a header field with a matching name is `true`. By default, a new one is set. */
  readonly keepsMessageId?: true | RegExp
  /** Writes an error in the format of the service. */
  readonly refused: (refusal: Refusal) => Answer
}

/** Parts of a request in addition to its body. */
export interface DialectRequest {
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string>>
  /** Time of arrival, in milliseconds since the epoch. */
  readonly nowMs: number
}

/** One message of a request. */
export interface DialectMessage {
  /**
   * Returns the body of `POST /v1/messages`. It is called when the message is sent. Throws `validation_failed` with field names of the
   * dialect.
   */
  readonly fields: () => Fields
  /** The request contains the whole message: the fields are `mime` and its options (`wire/sending/whole-send.ts`). */
  readonly isWhole?: boolean
  /** Field names of the request by our field name, such as `personalizations[0].to`. A field that is not listed has the same name. */
  readonly names: Readonly<Record<string, string>>
  readonly labels?: Labelled
  /** List entries of the request that belong only to this message. */
  readonly own?: readonly unknown[]
  /** The message is captured, regardless of the destination; other services call this their sandbox. */
  readonly isTest?: boolean
}

export type Fields = Readonly<Record<string, unknown>>

export interface Translation {
  readonly messages: readonly DialectMessage[]
  /**
   * Sends nothing unless every message passes all checks. By default, each message is accepted or refused separately and has its own
   * result.
   */
  readonly isStrict?: boolean
  readonly idempotencyKey?: string | undefined
  /** Parts of the request that belong to one message each. All other parts are repeated in every message. */
  readonly own?: unknown
  /** The response has only one id, that of the first message; events of all messages use it. */
  readonly hasOneId?: boolean
  /** The result can be queried later by the id of the first message. */
  readonly keepsReport?: boolean
}

/** Results of the messages of a request, in their order. Refusals name the fields of the request. */
export type Sent = readonly BatchResult[]

/** Next action of a conflict of idempotency keys. Dialects translate it into their own error name. */
export const useNewKey = 'use_new_idempotency_key'

export interface DialectSend<Body = never> {
  /** Unique in all dialects; its ending is the name of the service's action. */
  readonly operationId: string
  readonly path: string
  readonly params?: z.ZodObject
  /**
   * Schema of a JSON body; without it, the body is a form with files. Fields that `translate` does not read have no effect, and the trace
   * lists them.
   */
  readonly body?: z.ZodType<Body>
  readonly translate: (body: Body, request: DialectRequest) => Translation
  readonly answer: (sent: Sent, body: Body, publicHost: string, headers: IncomingHttpHeaders) => Answer
}

/** Keeps the type of the body in schema, translation and response. */
export const dialectSend = <Body>(send: DialectSend<Body>): DialectSend => send as unknown as DialectSend

/** A look-up, or a change of a sent message. The core defines the rules, and the dialect the format. */
export interface DialectCall<Params = never, Query = never, Body = never> {
  /** Unique in all dialects. */
  readonly operationId: string
  readonly method: Method
  readonly path: string
  /** Required scope of the key. Send-only keys cannot look up mail. */
  readonly scope: 'api:read' | 'api:send'
  readonly params?: z.ZodObject & z.ZodType<Params>
  /** By default, any parameter is accepted and has no effect. */
  readonly query?: z.ZodObject & z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  readonly errors?: readonly RefusalCode[]
  /** Field names of the request by our field name, as in `DialectMessage`. */
  readonly names?: Readonly<Record<string, string>>
  readonly handle: (mail: SentMail, given: CallInput<Params, Query, Body>) => Promise<Answer>
}

export interface CallInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** Time of arrival, in milliseconds since the epoch. */
  readonly nowMs: number
  readonly publicHost: string
}

/** Keeps the types of the input in the schemas and the handler. */
export const dialectCall = <Params, Query, Body>(call: DialectCall<Params, Query, Body>): DialectCall => call as unknown as DialectCall

/** For requests whose messages were all accepted. A refused single message refuses the request, and several messages are strict. */
export const accepted = (sent: Sent): readonly Acceptance[] => sent as readonly Acceptance[]
