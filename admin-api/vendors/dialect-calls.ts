/** Look-ups and changes of dialects as operations. They call the core and return the service's own format. */
import * as z from 'zod'
import type { Clock } from '#core/clock.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { Refusal } from '#core/refusals.ts'
import { media } from '../operation/answer.ts'
import { operation, type HandlerInput, type Operation } from '../operation/operation.ts'
import type { CallInput, Dialect, DialectCall } from './dialect.ts'
import { SentMail, type SentMailCore } from './sent-mail.ts'
import { inVendorTerms } from './vendor-terms.ts'
import { awsKey } from './sigv4.ts'
import { vendorKey, type KeyCheck } from './vendor-key.ts'

export interface CallCore extends SentMailCore, KeyCheck {
  readonly clock: Clock
  /** Public address of the service. */
  readonly baseUrl: string
}

const anything = z.looseObject({})

export function callOperation(dialect: Dialect, call: DialectCall): Operation<CallCore> {
  const act = call.handle as (mail: SentMail, given: CallInput<unknown, unknown, unknown>) => ReturnType<DialectCall['handle']>
  const { method, path, operationId, scope, params, query = anything, body, errors = [], names = {} } = call
  return operation({
    ...{ method, path, operationId, tags: ['vendors'], scope, errors: ['not_found', ...errors], query },
    summary: `Look up or change mail as a client of ${dialect.name}`,
    hiddenFromOpenApi: true,
    ...(params && { params }),
    ...(body && { body }),
    response: media('application/json'),
    credentials: [...(dialect.signsRequests ? [awsKey] : []), vendorKey],
    errorRenderer: dialect.refused,
    async handle({ core, ...given }: HandlerInput<unknown, unknown, unknown, Principal, CallCore>) {
      try {
        const publicHost = new URL(core.baseUrl).hostname
        return await act(new SentMail(core, given.principal), { ...given, nowMs: core.clock.now(), publicHost })
      } catch (error) {
        throw error instanceof Refusal ? inVendorTerms(error, [{ names }]) : error
      }
    },
  })
}
