/**
 * An action of the service, described once and without a transport: its input and output as schemas, its scope and feature, its refusals,
 * and the function to run. Surfaces bind it: `http.ts` creates a REST operation from it, `mcp/` an agent tool.
 */
import * as z from 'zod'
import type { Feature } from '#config/plans/features.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { RefusalCode } from '#core/refusals.ts'
import type { Access, Unscoped } from '../operation/operation.ts'
import { decoder, type Decoded, type Encoder, type Written } from '../wire/fields/codec.ts'
import type { GraphqlBinding } from './graphql-binding.ts'
import type { HttpBinding } from './http-binding.ts'
import type { ToolBinding } from './tool-binding.ts'

/** Origin of a request, regardless of its transport. */
export interface Client {
  /** IP address, seen through trusted proxies; empty if the connection is already closed. */
  readonly address: string
  /** Origin of the calling web page, as sent by the browser; undefined outside browsers. */
  readonly origin: string | undefined
  /** Captcha token of the visitor of that page. */
  readonly captchaToken?: string | undefined
  /** Identifies the request in the log. */
  readonly requestId: string
  /** The user acting as the operator of the service; undefined for the operator's key. */
  readonly operatorId?: string | undefined
  /** The header `User-Agent`; only in HTTP. */
  readonly userAgent?: string | undefined
  /** The caller of an action with the scope `person`. */
  readonly signedIn?: SignedIn | undefined
}

export interface Continued {
  readonly traceId: string
  /** The user of the agent declined to send the message. */
  readonly isDeclined: boolean
}

/** The context of a call, in addition to its input. */
export interface CallContext<P = Principal, C = unknown> {
  /** Parts of the daemon that runs the action. */
  readonly core: C
  /** Undefined for actions without a scope. */
  readonly principal: P
  /** Aborts when the client disconnects, the deadline passes or the server closes. */
  readonly signal: AbortSignal
  readonly client: Client
  /** The earlier round of the same call, whose message waited for approval. */
  readonly continues?: Continued | undefined
}

/** Actions without a scope have no principal. */
export type PrincipalFor<A extends Access> = A extends Unscoped ? undefined : Principal

export interface ActionFacts {
  /** Unique, for generated clients, logs and metrics: `createWebhook`. */
  readonly id: string
  /** One line, shown in lists. */
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  /** The feature flag that every surface requires. */
  readonly feature?: Feature
  /** Refusals in addition to the common refusals of all actions. */
  readonly errors?: readonly RefusalCode[]
  /** Send-only keys may also call it, without the scope. */
  readonly openToSendOnlyKeys?: boolean
  /** Signed-in members with the role for billing may also call it, without the scope. */
  readonly openToBilling?: boolean
}

export interface ActionSpec<I extends z.ZodType, R, O extends z.ZodType, A extends Access, C> extends ActionFacts {
  /** The scope that the principal needs; the scopes of other surfaces follow from it (`core/oauth/protocol/scopes.ts`). */
  readonly scope: A
  /** One schema for the whole input, closed to unknown fields. */
  readonly input: I
  /** The encoder of the result; absent if the action has no result. */
  readonly output?: Encoder<R, O, NoInfer<C>>
  readonly examples?: { readonly input?: Partial<z.input<I>>; readonly output?: Written<O> }
  /** Set for lists of a resource: the encoder of an entry. */
  readonly list?: { readonly item: Encoder<never, z.ZodType, never> }
  /** If absent, REST does not offer the action. */
  readonly http?: HttpBinding<R, C>
  /** If absent, MCP does not offer the action as a tool. */
  readonly tool?: ToolBinding
  /** If absent, GraphQL does not offer the action. */
  readonly graphql?: GraphqlBinding
  /** Receives the validated input with names in camelCase. Every field is present; omitted fields are undefined. */
  readonly run: (context: CallContext<PrincipalFor<A>, C>, input: Decoded<I>) => R | Promise<R>
  /**
   * For an action whose input is only an id: reads many resources at once, in the order of the ids. The result is undefined where `run`
   * would throw `not_found`.
   */
  readonly runMany?: (context: CallContext<PrincipalFor<A>, C>, ids: readonly string[]) => Promise<readonly (R | undefined)[]>
}

/**
 * An action without the types of its schemas. `C` is the part of the core that it uses. Code that only describes actions uses
 * `Action<never>`, which every action satisfies.
 */
export interface Action<in C = unknown> extends ActionFacts {
  readonly scope: Access
  readonly input: z.ZodType
  readonly output: z.ZodType | undefined
  readonly examples: { readonly input?: Readonly<Record<string, unknown>>; readonly output?: unknown }
  /** Set for lists of a resource: the schema of an entry. */
  readonly list: { readonly item: z.ZodType } | undefined
  readonly http?: HttpBinding<never, C>
  readonly tool?: ToolBinding
  readonly graphql?: GraphqlBinding
  /** Expects an input that its schema has validated. */
  readonly run: (context: CallContext<Principal | undefined, C>, checked: unknown) => Promise<unknown>
  readonly runMany: ((context: CallContext<Principal | undefined, C>, ids: readonly string[]) => Promise<readonly unknown[]>) | undefined
  /** Encodes the result of `run` according to `output`. */
  readonly encode: (result: unknown, core: C) => unknown
}

/** Creates an action from its description; the types of its schemas apply to `run`. */
export function action<I extends z.ZodType, R, O extends z.ZodType, const A extends Access, C = unknown>(
  spec: ActionSpec<I, R, O, A, C>,
): Action<C> {
  const { input, output, list, run, runMany, examples = {}, ...facts } = spec
  const decode = decoder(input)
  const encode = output?.encode as ((result: unknown, core: C) => unknown) | undefined
  return {
    ...facts,
    input,
    output: output?.schema,
    examples,
    list: list && { item: list.item.schema },
    run: async (context, checked) => run(context as CallContext<PrincipalFor<A>, C>, decode(checked as z.output<I>)),
    runMany: runMany && ((context, ids) => runMany(context as CallContext<PrincipalFor<A>, C>, ids)),
    encode: (result, core) => encode?.(result, core),
  }
}
