/** Actions as agent tools: their list entries and their calls. */
import assert from 'node:assert'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Feature } from '#config/plans/features.ts'
import { admit, type RequireFlag } from '../../actions/invoke.ts'
import type { Action, CallContext } from '../../actions/action.ts'
import { toolScopes, type ToolBinding, type ToolScope } from '../../actions/tool-binding.ts'
import { check } from '../../bodies/validation.ts'
import { isUnscoped, workOf, type Operation, type Work } from '../../operation/operation.ts'
import type { RestCore } from '../../rest/rest-core.ts'
import { withExamples } from './argument-examples.ts'
import { labeller, labelledSchema } from './untrusted.ts'
import { inputSchema, outputSchema, type JsonObject } from './tool-schemas.ts'

export type ToolResult = Readonly<Record<string, unknown>>

export interface Tool {
  readonly binding: ToolBinding
  readonly feature: Feature | undefined
  readonly scope: ToolScope
  /** Position of the scope in `toolScopes`. */
  readonly level: number
  readonly readOnly: boolean
  readonly work: Work
  /** Entry of `tools/list`; created on first use. */
  readonly listed: JsonObject
  /** Checks the arguments and runs the action: scope, flag, arguments, core. Throws `Refusal`. */
  readonly call: (context: CallContext<Principal, RestCore>, given: unknown, requireFlag: RequireFlag) => Promise<ToolResult>
}

/** Returns the tools of a table, in its order. */
export const toolsOf = (table: readonly (Action<RestCore> | Operation<RestCore>)[]): readonly Tool[] =>
  table.flatMap((entry) => ('run' in entry && entry.tool ? [toolOf(entry, entry.tool)] : []))

/** Agent scopes by scope of the core. */
export const scopesOfCore: Readonly<Record<string, ToolScope>> = {
  'api:read': 'mcp:read',
  'api:send': 'mcp:send',
  'api:admin': 'mcp:admin',
}

export function toolOf(action: Action<RestCore>, binding: ToolBinding): Tool {
  assert(!isUnscoped(action.scope), `${binding.name}: a tool requires a caller`)
  const actionScope = action.scope
  const scope = binding.scope ?? scopesOfCore[actionScope]
  assert(scope, `${binding.name}: no agent scope corresponds to ${actionScope}`)
  const { hints, untrusted = [] } = binding
  const readOnly = hints?.readOnly ?? actionScope === 'api:read'
  const { schema, toInput } = argumentsOf(action, binding)
  const label = labeller(untrusted)
  let listed: JsonObject | undefined
  return {
    binding,
    feature: action.feature,
    scope,
    level: toolScopes.indexOf(scope),
    readOnly,
    work: workOf(action),
    get listed() {
      return (listed ??= listingOf(action, binding, { schema, readOnly }))
    },
    async call(context, given, requireFlag) {
      await admit(action, context.principal, requireFlag)
      const input = toInput(check(schema, given ?? {}, 'body'))
      const reaching = binding.reachesOrganization ? { ...context, principal: ofOrganization(context.principal) } : context
      const result = await action.run(reaching, input)
      return action.output ? label(whole(action.encode(result, context.core) as ToolResult)) : { done: true }
    },
  }
}

/** Builds a list entry. The schemas of all tools together take a tenth of the start time, so they are built on demand. */
function listingOf(
  { summary: title, output }: Action<never>,
  { name, description, hints = {}, untrusted = [] }: ToolBinding,
  { schema, readOnly }: { readonly schema: z.ZodType; readonly readOnly: boolean },
): JsonObject {
  return {
    ...{ name, title, description },
    inputSchema: withExamples(name, inputSchema(schema)),
    outputSchema: labelledSchema(outputSchema(output ?? done), untrusted),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: hints.destructive ?? false,
      idempotentHint: readOnly || (hints.idempotent ?? false),
      openWorldHint: hints.openWorld ?? false,
    },
  }
}

const done = z.object({ done: z.literal(true) })

/** Returns a principal that reaches the organization if the user of the token allowed it. The user's role still limits it. */
function ofOrganization(principal: Principal): Principal {
  const { holder, projectsOnly, agent } = principal
  const isAllowed = agent?.reachesOrganization === true && holder?.kind === 'user' && !projectsOnly
  return isAllowed ? { ...principal, bound: false } : principal
}

/** Replaces the cursor of a list by `has_more`, since tools accept no cursor. */
function whole({ next_cursor: cursor, ...result }: ToolResult): ToolResult {
  return cursor === undefined ? result : { ...result, has_more: cursor !== null }
}

type Fields = Readonly<Record<string, z.ZodType>>

interface Arguments {
  readonly schema: z.ZodObject
  /** Converts the checked arguments to the checked input of the action. */
  readonly toInput: (checked: Readonly<Record<string, unknown>>) => unknown
}

/**
 * Derives the argument schema from the input of an action, including the checks of the whole input. These checks must not use a field whose
 * argument has another name.
 */
function argumentsOf({ id, input: given }: Action<never>, { name, arguments: named, required = [], fixed = {} }: ToolBinding): Arguments {
  const input = given instanceof z.ZodPrefault || given instanceof z.ZodDefault ? given.def.innerType : given
  assert(input instanceof z.ZodObject, `${name}: the input of ${id} is an object`)
  const fields: Fields = input.def.shape
  const all = named ?? Object.keys(fields)
  const pairs = Array.isArray(all)
    ? all.map((field: string) => [field, field] as const)
    : Object.entries(all as Readonly<Record<string, string>>)
  const shape = pairs.map(([argument, field]): [string, z.ZodType] => {
    const schema = fields[field]
    assert(schema, `${name}: ${id} has no field ${field}`)
    return [argument, required.includes(argument) ? needed(schema) : schema]
  })
  const rest = Object.entries(fields).filter(([field]) => !pairs.some(([, taken]) => taken === field))
  const left = Object.fromEntries(rest.map(([field, schema]) => [field, field in fixed ? fixed[field] : absent(schema)]))
  return {
    schema: input.clone({ ...input.def, shape: Object.fromEntries(shape) }),
    toInput: (checked) => ({ ...left, ...Object.fromEntries(pairs.map(([argument, field]) => [field, checked[argument]])) }),
  }
}

const needed = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? (schema.def.innerType as z.ZodType).meta(schema.meta() ?? {}) : schema

/** Returns the value of an omitted field. */
function absent(schema: z.ZodType): unknown {
  const result = schema.safeParse(undefined)
  return result.success ? result.data : undefined
}
