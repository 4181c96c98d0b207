/**
 * One thing the service does, described once and without a transport: its input and output as schemas, the scope and feature that it
 * needs, the refusals it gives, and what it runs. Surfaces bind it: `http.ts` makes a REST operation of it, `mcp/` an agent tool.
 */
import * as z from 'zod'
import type { Feature } from '#config/plans/features.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { RefusalCode } from '#core/refusals.ts'
import type { Access } from '../operation/operation.ts'
import { decoder, type Decoded, type Encoder, type Written } from '../wire/fields/codec.ts'
import type { GraphqlBinding } from './graphql-binding.ts'
import type { HttpBinding } from './http-binding.ts'
import type { ToolBinding } from './tool-binding.ts'

/** Where a request comes from, whatever carried it. */
export interface Client {
  /** IP address, seen through trusted proxies; empty when the connection is already gone. */
  readonly address: string
  /** The web page that asks, as its browser writes it; undefined outside browsers. */
  readonly origin: string | undefined
  /** What a captcha gave the visitor of that page. */
  readonly captchaToken?: string | undefined
  /** Names the request in the log. */
  readonly requestId: string
  /** The user who acts as the operator of the service; undefined for the operator's key. */
  readonly operatorId?: string | undefined
}

export interface Continued {
  readonly traceId: string
  /** The user of the agent does not want it sent. */
  readonly isDeclined: boolean
}

/** What an action knows of a call besides its input. */
export interface CallContext<P = Principal, C = unknown> {
  /** Parts of the daemon that runs the action. */
  readonly core: C
  /** Undefined for actions with the scope `none` or `operator`. */
  readonly principal: P
  /** Aborts when the caller has gone, the deadline has passed or the server closes. */
  readonly signal: AbortSignal
  readonly client: Client
  /** The earlier round of the same call, whose message waited for a person. */
  readonly continues?: Continued | undefined
}

/** Actions with the scope `none` or `operator` have no principal. */
export type PrincipalFor<A extends Access> = A extends 'none' | 'operator' ? undefined : Principal

export interface ActionFacts {
  /** Unique, for generated clients, logs and metrics: `createWebhook`. */
  readonly id: string
  /** One line, shown in lists. */
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  /** The feature flag without which every surface refuses it. */
  readonly feature?: Feature
  /** The refusals beyond those that every action can give. */
  readonly errors?: readonly RefusalCode[]
  /** Send-only keys may call it too, without the scope. */
  readonly openToSendOnlyKeys?: boolean
  /** Signed-in members of the role for billing may call it too, without the scope. */
  readonly openToBilling?: boolean
}

export interface ActionSpec<I extends z.ZodType, R, O extends z.ZodType, A extends Access, C> extends ActionFacts {
  /** The scope that the principal needs; the scopes of other surfaces follow from it (`core/oauth/protocol/scopes.ts`). */
  readonly scope: A
  /** One schema for all that the action takes, closed to unknown fields. */
  readonly input: I
  /** How the result is written; without it there is none. */
  readonly output?: Encoder<R, O, NoInfer<C>>
  readonly examples?: { readonly input?: Partial<z.input<I>>; readonly output?: Written<O> }
  /** Set for lists of a resource: how one entry is written. */
  readonly list?: { readonly item: Encoder<never, z.ZodType, never> }
  /** Without it, REST has no such operation. */
  readonly http?: HttpBinding<R, C>
  /** Without it, agents have no such tool. */
  readonly tool?: ToolBinding
  /** Without it, GraphQL has no such field. */
  readonly graphql?: GraphqlBinding
  /** Gets the checked input with its names in camelCase; every field is there, as undefined where it was left out. */
  readonly run: (context: CallContext<PrincipalFor<A>, C>, input: Decoded<I>) => R | Promise<R>
  /** Of an action that takes an id alone: many of them together, each in its place, undefined where `run` throws `not_found`. */
  readonly runMany?: (context: CallContext<PrincipalFor<A>, C>, ids: readonly string[]) => Promise<readonly (R | undefined)[]>
}

/**
 * An action without the types of its schemas. `C` is the part of the core that it uses. Code that only describes actions takes
 * `Action<never>`, which every action satisfies.
 */
export interface Action<in C = unknown> extends ActionFacts {
  readonly scope: Access
  readonly input: z.ZodType
  readonly output: z.ZodType | undefined
  readonly examples: { readonly input?: Readonly<Record<string, unknown>>; readonly output?: unknown }
  /** Set for lists of a resource: the schema of one entry. */
  readonly list: { readonly item: z.ZodType } | undefined
  readonly http?: HttpBinding<never, C>
  readonly tool?: ToolBinding
  readonly graphql?: GraphqlBinding
  /** Takes an input that its schema has checked. */
  readonly run: (context: CallContext<Principal | undefined, C>, checked: unknown) => Promise<unknown>
  readonly runMany: ((context: CallContext<Principal | undefined, C>, ids: readonly string[]) => Promise<readonly unknown[]>) | undefined
  /** Writes what `run` gave as `output` describes it. */
  readonly encode: (result: unknown, core: C) => unknown
}

/** Makes an action from its description, with the types of its schemas carried into `run`. */
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
