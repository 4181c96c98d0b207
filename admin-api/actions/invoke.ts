/**
 * Runs an action for other surfaces: agent tools and GraphQL. The checks (scope, feature, input) have the same order and refusals as in
 * REST; the surface renders the result.
 */
import assert from 'node:assert'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Feature } from '#config/plans/features.ts'
import { check } from '../bodies/validation.ts'
import { requireAccess } from '../operation/access.ts'
import type { Action, CallContext } from './action.ts'

/** Throws `feature_disabled` while the flag is off for the organization. */
export type RequireFlag = (principal: Principal, feature: Feature) => Promise<void>

/** Returns the result encoded according to the action's output; throws `Refusal`. The input has the names of the wire. */
export async function invoke<C>(
  action: Action<C>,
  context: CallContext<Principal, C>,
  input: unknown,
  requireFlag: RequireFlag,
): Promise<unknown> {
  await admit(action, context.principal, requireFlag)
  return action.encode(await action.run(context, check(action.input, input, 'body')), context.core)
}

/** Runs an action for many ids with one call and returns the results in the order of the ids; null for unknown ids. */
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
