/** Failover policies on the wire. Spec "Failover policy". */
import * as z from 'zod'
import { failoverCauses, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { encoder } from '../fields/codec.ts'
import { id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

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
  fallback_ids: z.array(id).max(50).meta({ description: 'Destinations that take over, in order of preference. At most 5.' }),
  conditions: z.strictObject({
    on: z
      .array(cause)
      .max(20)
      .meta({
        description:
          'transient: connection, TLS, 421, timeout or a temporary refusal, and an unknown outcome after its wait; rate_limited: the ' +
          'provider wants fewer messages; breaker_open: the circuit breaker of the destination is open; misconfigured: the sign-in was ' +
          'refused or a setting is invalid; latency: the 95th percentile of the last five minutes is above latency_ms.',
      }),
    latency_ms: z.int().min(1).max(600_000).optional(),
  }),
  project_id: id.optional(),
})

export const failoverPolicy = encoder(failoverPolicyShape).from<FailoverPolicy>({
  conditions: ({ on, latencyMs }) => ({ on, latency_ms: latencyMs }),
})
