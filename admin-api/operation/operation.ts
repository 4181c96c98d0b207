/** One operation of the HTTP API. This object defines the route, the checks, the scope, the limits and the OpenAPI entry. */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Feature } from '#config/plans/features.ts'
import type { FieldProblem, Refusal, RefusalCode } from '#core/refusals.ts'
import type { Scope, Principal } from '#core/access/principal/principal.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { Answer, ResponseShape } from './answer.ts'
import type { BodyStream, StreamShape } from '../bodies/body-stream.ts'
import type { Cors, Credentials } from '../credentials/credentials.ts'
import type { Written } from '../wire/fields/codec.ts'
import { textFormOf } from '../wire/fields/text-form.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Access without a scope: unauthenticated, the operator of the service, or a signed-in person with or without an organization. */
const unscoped = ['none', 'operator', 'person'] as const
export type Unscoped = (typeof unscoped)[number]

/** The required scope, or access without one. */
export type Access = Scope | Unscoped

export const isUnscoped = (scope: Access): scope is Unscoped => (unscoped as readonly Access[]).includes(scope)

/** Kind of work for admission: `storing` adds mail or files, and is refused while the disk is low. */
export type Work = 'storing' | 'other'

/** Returns the kind of an operation or action by its declared refusals. */
export const workOf = ({ errors }: { readonly errors?: readonly RefusalCode[] }): Work =>
  errors?.includes('storage_full') ? 'storing' : 'other'

/** Facts of an operation that do not depend on its schemas. `C` is the part of the core that it uses. */
export interface OperationFacts<in C = unknown> {
  readonly method: Method
  /** Path with parameters in braces: `/v1/messages/{id}`. */
  readonly path: string
  /** Unique name for generated clients, logs and metrics, such as `sendMessage`. */
  readonly operationId: string
  /** One line for lists of operations. */
  readonly summary: string
  readonly description?: string | ((core: C) => string)
  readonly tags: readonly string[]
  /** Status of a successful response; 200 by default. */
  readonly status?: number
  /** Other statuses with the same shape, each with its description. */
  readonly otherResponses?: Readonly<Record<number, string>>
  /** Headers of successful responses, each with its description. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /** The feature flag that the operation requires. */
  readonly feature?: Feature | undefined
  /**
   * Refusals of this operation in addition to the common ones. `storage_full` declares that it stores new mail or files. Only such
   * operations are refused while the disk is low.
   */
  readonly errors?: readonly RefusalCode[]
  /** Largest body in bytes; 65,536 by default. */
  readonly maxBodyBytes?: number | ((core: C) => number)
  /** Name of the setting for `maxBodyBytes`, used in refusals. */
  readonly maxBodySetting?: string
  /**
   * Returns a check of the SHA-256 of the body (hexadecimal) if the request header declares or signs it. The check throws if the digest
   * differs.
   */
  readonly digestCheck?: (headers: IncomingHttpHeaders, core: C) => ((sha256: string) => void) | undefined
  /** Seconds from the first handled header byte to the response; 30 by default. */
  readonly deadlineSeconds?: number
  /** The operation waits for an event. It may take 130 seconds, and a closing server ends it at once. */
  readonly waits?: boolean
  /** Served even under load shedding, such as files of pages and refusals of unknown addresses. */
  readonly bypassesLoadShedding?: boolean
  /** Probes of the process. Their time counts for no caller, and they never wait in the queue. They must be cheap. */
  readonly isFree?: boolean
  /** Scripts of any web page may call it without cookies and read the response (CORS, in the Fetch standard). */
  readonly allowsAnyOrigin?: boolean
  /** Pages whose scripts may call it without a credential. Credentials have their own rules. */
  readonly cors?: Cors
  /** Throws the refusal of a request by its headers, before authentication. */
  readonly refuse?: (headers: IncomingHttpHeaders) => void
  /** Accepted credentials; bearer tokens by default. */
  readonly credentials?: Credentials<C>
  /** Send-only keys may call it without the scope. They can call no other operations. */
  readonly openToSendOnlyKeys?: boolean
  /** Signed-in members with the billing role may call it without the scope. They can call no other operations. */
  readonly openToBilling?: boolean
  /** The OpenAPI document omits it, since another document describes it. */
  readonly hiddenFromOpenApi?: boolean
  /** Browsers get the response as a page, depending on `Accept`. */
  readonly alsoAsPage?: boolean
  /**
   * Returns further missing fields of a body that its schema refused, so that the caller sees all problems at once. The body has not been
   * checked.
   */
  readonly alsoMissing?: (body: Readonly<Record<string, unknown>>, principal: Principal, core: C) => Promise<readonly FieldProblem[]>
  /** Records invalid requests, except requests with publishable keys. */
  readonly onInvalid?: InvalidRequest<C>
  /** Renders refusals in another format than the error envelope. */
  readonly errorRenderer?: ErrorRenderer
}

/** Called for authenticated requests that were refused with `validation_failed`. Returns the refusal to send. */
export type InvalidRequest<C = unknown> = (principal: Principal, body: unknown, refusal: Refusal, core: C) => Promise<Refusal>

/** Renders a refusal in another format. Returns undefined for the error envelope. */
export type ErrorRenderer = (refusal: Refusal, headers: IncomingHttpHeaders) => Answer | undefined

/** Checked input of a handler. */
export interface HandlerInput<P, Q, B, S, C = unknown> {
  /** The part of the daemon that the operation uses. */
  readonly core: C
  readonly params: P
  readonly query: Q
  readonly body: B
  /** Memory of a JSON body in octets; 0 for a streamed body. */
  readonly bodyBytes: number
  /** The caller; `undefined` for access without a scope. */
  readonly principal: S
  /** Aborts when the client disconnects, the deadline passes or the server closes. */
  readonly signal: AbortSignal
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  /** The client requests only the headers (HEAD). */
  readonly headOnly: boolean
  /** Address of the client behind trusted proxies; empty if the connection is already closed. */
  readonly remoteAddress: string
  /** For long responses: throws if the caller is no longer authorized. */
  readonly authenticateAgain: () => Promise<void>
  /** The user if the scope is `operator`; undefined for the operator's key. */
  readonly operatorId?: string | undefined
  /** The caller if the scope is `person`. */
  readonly signedIn?: SignedIn | undefined
}

/** Result of `handle`: the wire object, or an `Answer` with its own status, headers or bytes. */
type Handled<R extends ResponseShape> = Answer | (R extends z.ZodType ? Written<R> : R extends { kind: 'none' } ? void : never)

/** Body for a handler: the checked value, or the stream. */
type BodyFor<B extends z.ZodType | StreamShape> = B extends z.ZodType ? z.output<B> : BodyStream

type PrincipalFor<A extends Access> = A extends Unscoped ? undefined : Principal

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
 * Creates an operation from its description. `handle` gets the types of the schemas. Throws for a contradictory description when the module
 * is loaded.
 */
export function operation<
  const A extends Access,
  R extends ResponseShape,
  P extends z.ZodObject = NoFields,
  Q extends z.ZodObject = NoFields,
  B extends z.ZodType | StreamShape = z.ZodUndefined,
  C = unknown,
>(spec: OperationSpec<P, Q, B, R, A, C>): Operation<C> {
  const params = asText(spec.params ?? noFields)
  const query = asText(spec.query ?? noFields)
  const named = pathParameters(spec.path)
  assert.deepEqual(Object.keys(params.shape).sort(), [...named].sort(), `${spec.operationId}: params must match ${spec.path}`)
  for (const [where, schema] of Object.entries({ query, body: spec.body })) {
    const lax = schema instanceof z.ZodObject && !schema.def.catchall
    assert(!lax, `${spec.operationId}: ${where} must define unknown fields, with z.strictObject`)
  }
  assert(!(spec.body && spec.method === 'GET'), `${spec.operationId}: GET has no body`)
  return { examples: {}, ...(spec as object), params, query, body: spec.body } as unknown as Operation<C>
}

/** Replaces the fields of a path or query by their text forms, since their values are text. */
function asText(fields: z.ZodObject): z.ZodObject {
  const shape: Readonly<Record<string, z.ZodType>> = fields.def.shape
  const forms = Object.entries(shape).map(([name, field]) => [name, textFormOf(field)] as const)
  if (forms.every(([name, form]) => form === shape[name])) return fields
  return fields.clone({ ...fields.def, shape: Object.fromEntries(forms) })
}

const bodyBytesDefault = 65_536

/** Returns the largest accepted body, in bytes. */
export const maxBodyBytesOf = <C>({ maxBodyBytes: max = bodyBytesDefault }: Operation<C>, core: C): number =>
  typeof max === 'function' ? max(core) : max

/** Returns the seconds from the first handled header byte to the response. */
export const deadlineSecondsOf = ({ deadlineSeconds, waits }: Pick<Operation, 'deadlineSeconds' | 'waits'>): number =>
  deadlineSeconds ?? (waits ? 130 : 30)

/** Returns the names in braces of a path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
}
