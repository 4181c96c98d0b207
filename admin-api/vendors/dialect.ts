/**
 * The API of another mail service, which its clients use here with nothing changed but the address and the key. A dialect only translates:
 * a request into messages as `POST /v1/messages` takes them, and what came of them, or the refusal, into that service's words.
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
  /** As the service spells itself. */
  readonly name: string
  /** Its clients sign requests by AWS Signature Version 4. */
  readonly signsRequests?: true
  readonly sends: readonly DialectSend[]
  /** What stands beside sending: look-ups, and what is done with mail that waits. */
  readonly calls?: readonly DialectCall[]
  /** Header fields by which its clients give it orders, and which it takes out of the mail. Those without an effect here are named. */
  readonly orderFields?: RegExp
  /** A Message-ID among the header fields stays, always or when a field of this name is `true`; by default the service sets its own. */
  readonly keepsMessageId?: true | RegExp
  /** An error as its clients read it. */
  readonly refused: (refusal: Refusal) => Answer
}

/** What a request says besides its body. */
export interface DialectRequest {
  readonly headers: IncomingHttpHeaders
  readonly params: Readonly<Record<string, string>>
  /** When it came, in milliseconds since the epoch. */
  readonly nowMs: number
}

/** One message of a request. */
export interface DialectMessage {
  /** As the body of `POST /v1/messages`; made when its turn comes. Throws `validation_failed`, in the words of the dialect. */
  readonly fields: () => Fields
  /** It comes whole: the fields are `mime`, and what the request says besides (`wire/sending/whole-send.ts`). */
  readonly isWhole?: boolean
  /** Where a field of ours stands in the request, as in `personalizations[0].to`; a field that is not here has the same name. */
  readonly names: Readonly<Record<string, string>>
  readonly labels?: Labelled
  /** The entries of lists of the request that are about it and not about every message. */
  readonly own?: readonly unknown[]
  /** It is captured, whatever the destination: what other services call their sandbox. */
  readonly isTest?: boolean
}

export type Fields = Readonly<Record<string, unknown>>

export interface Translation {
  readonly messages: readonly DialectMessage[]
  /** Nothing is sent unless every message passes each check; by default each is taken or refused by itself, and has its own result. */
  readonly isStrict?: boolean
  readonly idempotencyKey?: string | undefined
  /** Of the request, what belongs to one message each, so that none repeats that of another; the rest is in all of them. */
  readonly own?: unknown
  /** The answer has room for one id, that of the first message; events of all messages repeat it. */
  readonly hasOneId?: boolean
  /** What came of it can be asked for later, by the id of the first message. */
  readonly keepsReport?: boolean
}

/** What came of a request of one message or several, in their order; refusals are in the words of the dialect already. */
export type Sent = readonly BatchResult[]

/** The next action of a conflict of idempotency keys: services with such keys have a word for it. */
export const useNewKey = 'use_new_idempotency_key'

export interface DialectSend<Body = never> {
  /** Unique over all dialects; ends as the action of the service is called. */
  readonly operationId: string
  readonly path: string
  readonly params?: z.ZodObject
  /** Of JSON; without it, the body is a form with files. What `translate` does not read has no effect, and the trace says so. */
  readonly body?: z.ZodType<Body>
  readonly translate: (body: Body, request: DialectRequest) => Translation
  readonly answer: (sent: Sent, body: Body, publicHost: string, headers: IncomingHttpHeaders) => Answer
}

/** Keeps the type of the body between its schema, the translation and the answer. */
export const dialectSend = <Body>(send: DialectSend<Body>): DialectSend => send as unknown as DialectSend

/** A look-up, or what is done with a message that was sent. The rules are those of the core; the words are the service's. */
export interface DialectCall<Params = never, Query = never, Body = never> {
  /** Unique over all dialects. */
  readonly operationId: string
  readonly method: Method
  readonly path: string
  /** What it needs of a key; send-only keys look nothing up here. */
  readonly scope: 'api:read' | 'api:send'
  readonly params?: z.ZodObject & z.ZodType<Params>
  /** By default any field is taken, and has no effect. */
  readonly query?: z.ZodObject & z.ZodType<Query>
  readonly body?: z.ZodType<Body>
  readonly errors?: readonly RefusalCode[]
  /** As in a message: where a field of ours stands in the request. */
  readonly names?: Readonly<Record<string, string>>
  readonly handle: (mail: SentMail, given: CallInput<Params, Query, Body>) => Promise<Answer>
}

export interface CallInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** When it came, in milliseconds since the epoch. */
  readonly nowMs: number
  readonly publicHost: string
}

/** Keeps the types of what is given between its schemas and what is done with it. */
export const dialectCall = <Params, Query, Body>(call: DialectCall<Params, Query, Body>): DialectCall => call as unknown as DialectCall

/** For requests of which every message was accepted: one message that is refused refuses the request, and several are strict. */
export const accepted = (sent: Sent): readonly Acceptance[] => sent as readonly Acceptance[]
