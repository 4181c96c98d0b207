/** Validates a body against its schema and reports problems found by the core in the same error. */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal, type RefusalCode } from '#core/refusals.ts'
import { isStreamed } from '../bodies/body-stream.ts'
import type { BodyLimits as JsonBodyLimits } from '../bodies/request-body.ts'
import type { BodyLimits } from '../credentials/credentials.ts'
import { maxBodyBytesOf, type Operation } from '../operation/operation.ts'
import { check, withMore } from '../bodies/validation.ts'

/** Refusals of a body before the operation runs. */
export const bodyRefusals: ReadonlySet<RefusalCode> = new Set(['validation_failed', 'request_too_large', 'unsupported_media_type'])

/** Returns the limits of a JSON body: the limits of the credential, or else of the operation. */
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

/** Returns the error for a body sent to an operation without a body. */
export function noBodyText({ query: { shape } }: Operation): string {
  const names = Object.keys(shape).join(' and ')
  return `must be omitted: this operation has no body${names === '' ? '' : `; give ${names} in the query`}`
}

/** Returns the validated body; throws `validation_failed`. */
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
