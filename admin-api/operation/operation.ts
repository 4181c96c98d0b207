/** One operation of the HTTP side: from this one object come the route, the checks, the scope, the limits and the OpenAPI entry. */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Feature } from '#config/plans/features.ts'
import type { FieldProblem, Refusal, RefusalCode } from '#core/refusals.ts'
import type { Scope, Principal } from '#core/access/principal/principal.ts'
import type { Answer, ResponseShape } from './answer.ts'
import type { BodyStream, StreamShape } from '../bodies/body-stream.ts'
import type { Cors, Credentials } from '../credentials/credentials.ts'
import type { Written } from '../wire/fields/codec.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The scope a caller needs; `none` means unauthenticated, `operator` is the operator's key alone. */
export type Access = Scope | 'none' | 'operator'

/** What admission distinguishes: `storing` adds mail or files, and is refused while the disk is low. */
export type Work = 'storing' | 'other'

/** The kind of an operation or action, by the refusals that it declares. */
export const workOf = ({ errors }: { readonly errors?: readonly RefusalCode[] }): Work =>
  errors?.includes('storage_full') ? 'storing' : 'other'

/** Facts of an operation that do not depend on its schemas. `C` is the part of the core that it uses. */
export interface OperationFacts<in C = unknown> {
  readonly method: Method
  /** Path with parameters in braces: `/v1/messages/{id}`. */
  readonly path: string
  /** Unique name for generated clients, logs and metrics: `sendMessage`. */
  readonly operationId: string
  /** One line, shown in lists of operations. */
  readonly summary: string
  readonly description?: string | ((core: C) => string)
  readonly tags: readonly string[]
  /** Status of the good answer; 200 by default. */
  readonly status?: number
  /** Other statuses that come with the same shape, each with the sentence that explains it. */
  readonly otherResponses?: Readonly<Record<number, string>>
  /** Headers of good answers, each with its description. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The feature flag without which it is refused. */
  readonly feature?: Feature | undefined
  /**
   * The refusals of this operation beyond those every operation can give. `storage_full` declares that it stores new mail or files: it
   * is refused while the disk is low, and no other operation is.
   */
  readonly errors?: readonly RefusalCode[]
  /** Largest body in bytes; 65,536 by default. */
  readonly maxBodyBytes?: number | ((core: C) => number)
  /** The setting from which `maxBodyBytes` comes, for refusals. */
  readonly maxBodySetting?: string
  /**
   * Returns a check of the SHA-256 of the body (hexadecimal) if the request header declares or signs it. The check throws if the digest
   * differs.
   */
  readonly digestCheck?: (headers: IncomingHttpHeaders, core: C) => ((sha256: string) => void) | undefined
  /** Seconds from the first header byte handled to the answer; 30 by default. */
  readonly deadlineSeconds?: number
  /** The operation waits for something to happen: it may take 130 seconds, and a closing server ends it at once. */
  readonly waits?: boolean
  /** Answered even when the service sheds load: files of pages, refusals of unknown addresses and the like. */
  readonly bypassesLoadShedding?: boolean
  /** Probes of the process: their time is charged to no caller, and they never wait for a turn. They must be cheap. */
  readonly isFree?: boolean
  /** Scripts of any web page may call it, without cookies, and read the answer (CORS, in the Fetch standard). */
  readonly allowsAnyOrigin?: boolean
  /** Scripts of other pages that may call it without a credential; what has credentials has it from them. */
  readonly cors?: Cors
  /** Throws the refusal of a request by its headers alone, before it is looked at who asks. */
  readonly refuse?: (headers: IncomingHttpHeaders) => void
  /** How callers prove who they are; bearer tokens by default. */
  readonly credentials?: Credentials<C>
  /** Send-only keys may call it too, without the scope. Everything else is closed to them. */
  readonly openToSendOnlyKeys?: boolean
  /** Signed-in members of the role for billing may call it too, without the scope. Everything else is closed to them. */
  readonly openToBilling?: boolean
  /** Another document describes it, so the OpenAPI document leaves it out. */
  readonly hiddenFromOpenApi?: boolean
  /** Browsers get its answer as a page, by their `Accept`. */
  readonly alsoAsPage?: boolean
  /**
   * Of a body that its schema refuses: the fields that the handler would miss besides, so that the caller learns of all of them at
   * once. Nothing in the body has been checked.
   */
  readonly alsoMissing?: (body: Readonly<Record<string, unknown>>, principal: Principal, core: C) => Promise<readonly FieldProblem[]>
  /** Keeps a record of requests that were wrong. Those with publishable keys are left out. */
  readonly onInvalid?: InvalidRequest<C>
  /** Renders refusals in a form of its own in place of the error envelope. */
  readonly errorRenderer?: ErrorRenderer
}

/** Is notified of requests that were refused with `validation_failed` after it was known who asks; returns the refusal to give. */
export type InvalidRequest<C = unknown> = (principal: Principal, body: unknown, refusal: Refusal, core: C) => Promise<Refusal>

/** The form that refusals have outside the error envelope; undefined is the envelope all the same. */
export type ErrorRenderer = (refusal: Refusal, headers: IncomingHttpHeaders) => Answer | undefined

/** What a handler gets; everything in it has been checked. */
export interface HandlerInput<P, Q, B, S, C = unknown> {
  /** Parts of the daemon that serves the operation. */
  readonly core: C
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Octets of memory that a JSON body took; 0 for one that is read as it comes. */
  readonly bodyBytes: number
  /** Who asks; `undefined` where the scope is `none` or `operator`. */
  readonly principal: S
  /** Aborts when the client has gone, the deadline has passed or the server closes. */
  readonly signal: AbortSignal
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** The client wants to know of the answer, and not to have it (HEAD). */
  readonly headOnly: boolean
  /** Address of the client, seen through trusted proxies; empty when the connection is already gone. */
  readonly remoteAddress: string
  /** For answers that go on: throws once the caller may not ask any more. */
  readonly authenticateAgain: () => Promise<void>
  /** The user who asks where the scope is `operator`; undefined for the operator's key. */
  readonly operatorId?: string | undefined
}

/** What `handle` may return: the wire object, or an `Answer` that carries a status, headers or bytes of its own. */
type Handled<R extends ResponseShape> = Answer | (R extends z.ZodType ? Written<R> : R extends { kind: 'none' } ? void : never)

/** What a handler gets as the body: the checked value, or the stream. */
type BodyFor<B extends z.ZodType | StreamShape> = B extends z.ZodType ? z.output<B> : BodyStream

type PrincipalFor<A extends Access> = A extends 'none' | 'operator' ? undefined : Principal

interface OperationSpec<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType | StreamShape,
  R extends ResponseShape,
  A extends Access,
  C,
> extends OperationFacts<C> {
  readonly scope: A
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly response: R
  /** Examples for the OpenAPI document. */
  readonly examples?: {
    readonly body?: B extends z.ZodType ? z.input<B> : unknown
    readonly response?: R extends z.ZodType ? z.input<R> : string
  }
  readonly handle: (input: HandlerInput<z.output<P>, z.output<Q>, BodyFor<B>, PrincipalFor<A>, C>) => Handled<R> | Promise<Handled<R>>
}

/**
 * An operation without the types of its schemas. `C` is the part of the core that it uses. Code that only describes operations takes
 * `Operation<never>`, which every operation satisfies.
 */
export interface Operation<in C = unknown> extends OperationFacts<C> {
  readonly scope: Access
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | StreamShape | undefined
  readonly response: ResponseShape
  readonly examples: { readonly body?: unknown; readonly response?: unknown }
  readonly handle: (input: HandlerInput<unknown, unknown, unknown, Principal | undefined, C>) => unknown
}

type NoFields = z.ZodObject<Record<never, never>, z.core.$strict>
const noFields: NoFields = z.strictObject({})

/**
 * Makes an operation from its description, with the types of its schemas carried into `handle`.
 * Refuses descriptions that contradict themselves; such a mistake is a defect, found when the module loads.
 */
export function operation<
  const A extends Access,
  R extends ResponseShape,
  P extends z.ZodObject = NoFields,
  Q extends z.ZodObject = NoFields,
  B extends z.ZodType | StreamShape = z.ZodUndefined,
  C = unknown,
>(spec: OperationSpec<P, Q, B, R, A, C>): Operation<C> {
  const params: z.ZodObject = spec.params ?? noFields
  const query: z.ZodObject = spec.query ?? noFields
  const named = pathParameters(spec.path)
  assert.deepEqual(Object.keys(params.shape).sort(), [...named].sort(), `${spec.operationId}: params must be those of ${spec.path}`)
  for (const [where, schema] of Object.entries({ query, body: spec.body })) {
    const lax = schema instanceof z.ZodObject && !schema.def.catchall
    assert(!lax, `${spec.operationId}: ${where} must say what happens to unknown fields, with z.strictObject`)
  }
  assert(!(spec.body && spec.method === 'GET'), `${spec.operationId}: GET has no body`)
  return { examples: {}, ...(spec as object), params, query, body: spec.body } as unknown as Operation<C>
}

const bodyBytesDefault = 65_536

/** Largest body that the operation accepts, in bytes. */
export const maxBodyBytesOf = <C>({ maxBodyBytes: max = bodyBytesDefault }: Operation<C>, core: C): number =>
  typeof max === 'function' ? max(core) : max

/** Seconds from the first header byte handled to the answer. */
export const deadlineSecondsOf = ({ deadlineSeconds, waits }: Pick<Operation, 'deadlineSeconds' | 'waits'>): number =>
  deadlineSeconds ?? (waits ? 130 : 30)

/** The names in braces of a path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}
