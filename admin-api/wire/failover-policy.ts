/** Failover policies on the wire. Spec "Failover policy". */
import * as z from 'zod'
import { failoverCauses, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import type { FailoverRequest } from '#core/routing/failover-policies.ts'
import { id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const cause = z.enum(failoverCauses)

export const failoverPolicyShape = z
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

export const failoverPolicyBody = z.strictObject({
  primary_id: id,
  fallback_ids: z.array(id).max(50).meta({ description: 'Destinations that take over, in this order; at most 5.' }),
  conditions: z.strictObject({
    on: z
      .array(cause)
      .max(20)
      .meta({
        description:
          'transient: connection, TLS, 421, timeout or a temporary refusal, and an unknown outcome after its wait; rate_limited: the ' +
          'provider wants fewer messages; breaker_open: the circuit breaker of the destination is open; misconfigured: the sign-in was ' +
          'refused or a setting is wrong; latency: the 95th percentile of the last five minutes is above latency_ms.',
      }),
    latency_ms: z.int().min(1).max(600_000).optional(),
  }),
  project_id: id.optional(),
})

export const primaryParams = z.strictObject({ primary_id: id })

export const toFailoverRequest = (body: z.output<typeof failoverPolicyBody>): FailoverRequest => ({
  primaryId: body.primary_id,
  fallbackIds: body.fallback_ids,
  on: body.conditions.on,
  latencyMs: body.conditions.latency_ms,
  projectId: body.project_id,
})

export const toWireFailoverPolicy = (policy: FailoverPolicy): z.input<typeof failoverPolicyShape> => ({
  id: policy.id,
  project_id: policy.projectId,
  primary_id: policy.primaryId,
  fallback_ids: [...policy.fallbackIds],
  conditions: { on: [...policy.on], latency_ms: policy.latencyMs },
  created_at: toWireTime(policy.createdAt),
  updated_at: toWireTime(policy.updatedAt),
})
