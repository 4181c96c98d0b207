/**
 * An action called by a surface that has its own way in: agent tools, GraphQL. The same checks in the same order as for REST – scope,
 * feature, input – and the same refusals; how they are shown is the surface's.
 */
import assert from 'node:assert'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Feature } from '#config/plans/features.ts'
import { check } from '../bodies/validation.ts'
import { requireAccess } from '../operation/access.ts'
import type { Action, CallContext } from './action.ts'

/** Throws `feature_disabled` while the flag is off for the organization. */
export type RequireFlag = (principal: Principal, feature: Feature) => Promise<void>

/** Returns the result as the action's output describes it; throws `Refusal`. The input is a value with the names of the wire. */
export async function invoke<C>(
  action: Action<C>,
  context: CallContext<Principal, C>,
  input: unknown,
  requireFlag: RequireFlag,
): Promise<unknown> {
  await admit(action, context.principal, requireFlag)
  return action.encode(await action.run(context, check(action.input, input, 'body')), context.core)
}

/** Many things by their ids with one call, each in its place; null for those that are not there. */
export async function invokeMany<C>(
  action: Action<C>,
  context: CallContext<Principal, C>,
  ids: readonly string[],
  requireFlag: RequireFlag,
): Promise<readonly unknown[]> {
  assert(action.runMany, `${action.id} has no runMany`)
  await admit(action, context.principal, requireFlag)
  return (await action.runMany(context, ids)).map((result) => (result === undefined ? null : action.encode(result, context.core)))
}

/** Throws `insufficient_scope` and `feature_disabled`, in this order. */
export async function admit(action: Action<never>, principal: Principal, requireFlag: RequireFlag): Promise<void> {
  requireAccess(principal, action)
  const { feature } = action
  if (feature !== undefined) await requireFlag(principal, feature)
}
