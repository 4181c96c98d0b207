/** Failover policies on the wire. Spec "Failover policy". */
import * as z from 'zod'
import { failoverCauses, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import type { SetFailover } from '#core/routing/rules/failover-policies.ts'
import { encoder } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'
import { routeWarnings } from './destination.ts'

const cause = z.enum(failoverCauses)

const failoverPolicyShape = z
  .object({
    id: z.string(),
    project_id: z.string(),
    primary_id: z.string(),
    fallback_ids: z.array(z.string()),
    conditions: z.object({ on: z.array(cause), latency_ms: z.int().nullable() }),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'FailoverPolicy' })

export const failoverPolicyInput = z.strictObject({
  primary_id: id,
  fallback_ids: z.array(id).max(50).meta({ description: 'Fallback destinations in order of preference. At most 5.' }),
  conditions: z.strictObject({
    on: z
      .array(cause)
      .max(20)
      .meta({
        description:
          'transient: connection, TLS, 421, timeout or a temporary refusal, and an unknown outcome after its wait; rate_limited: ' +
          'the provider limits the rate; breaker_open: the circuit breaker is open; misconfigured: the sign-in was refused or ' +
          'a setting is invalid; latency: the 95th percentile of five minutes is above latency_ms.',
      }),
    latency_ms: z.int().min(1).max(600_000).optional(),
  }),
  project_id: id.optional(),
})

const setPolicyShape = failoverPolicyShape
  .extend({
    warnings: routeWarnings.meta({
      description: '`fallback_in_sandbox`: the fallback is skipped. `primary_in_sandbox`: no failover happens.',
    }),
  })
  .meta({ id: 'SetFailoverPolicy' })

const code = { conditions: ({ on, latencyMs }: FailoverPolicy) => ({ on: [...on], latency_ms: latencyMs }) }

export const failoverPolicy = encoder(failoverPolicyShape).from<FailoverPolicy>(code)
export const setFailoverPolicy = encoder(setPolicyShape).from<SetFailover>({ ...code, warnings: ({ warnings }) => [...warnings] })
