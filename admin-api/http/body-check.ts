/** A body against its schema, and what the core misses in it: all of it in one error. */
import assert from 'node:assert'
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import { isStreamed } from '../bodies/body-stream.ts'
import type { Operation } from '../operation/operation.ts'
import { check, withMore } from '../bodies/validation.ts'

/** Returns the checked body; throws `validation_failed`. */
export async function checkBody<C>(
  { body, alsoMissing }: Operation<C>,
  value: unknown,
  principal: Principal | undefined,
  core: C,
): Promise<unknown> {
  assert(body && !isStreamed(body))
  try {
    return check(body, value, 'body')
  } catch (error) {
    const isFields = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!alsoMissing || !principal || !isFields || !(error instanceof Refusal)) throw error
    throw withMore(error, await alsoMissing(value as Readonly<Record<string, unknown>>, principal, core))
  }
}
