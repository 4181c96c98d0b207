/** A body against its schema, and what the core misses in it: all of it in one error. */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import { isStreamed } from '../bodies/body-stream.ts'
import type { BodyLimits as JsonBodyLimits } from '../bodies/request-body.ts'
import type { BodyLimits } from '../credentials/credentials.ts'
import { maxBodyBytesOf, type Operation } from '../operation/operation.ts'
import { check, withMore } from '../bodies/validation.ts'

/** Refusals of a body before anything is done with it. */
export const bodyRefusals: ReadonlySet<RefusalCode> = new Set(['validation_failed', 'request_too_large', 'unsupported_media_type'])

/** Limits of a JSON body: those of the credential, or of the operation. */
export function jsonBodyLimits<C>(
  operation: Operation<C>,
  own: BodyLimits | undefined,
  headers: IncomingHttpHeaders,
  core: C,
): Pick<JsonBodyLimits, 'maxBytes' | 'setting' | 'checkDigest'> {
  const { digestCheck, maxBodySetting: setting } = operation
  return {
    ...(own ? { maxBytes: own.maxBodyBytes } : { maxBytes: maxBodyBytesOf(operation, core), setting }),
    checkDigest: digestCheck?.(headers, core),
  }
}

/** Words for a body that an operation does not take. */
export function noBodyWords({ query: { shape } }: Operation): string {
  const names = Object.keys(shape).join(' and ')
  return `must be left out: this operation takes no body${names === '' ? '' : `; give ${names} in the query`}`
}

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
