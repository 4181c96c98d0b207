/** Tests and health snapshots of destinations on the wire. Spec "Destination". */
import * as z from 'zod'
import type { HealthSnapshot, ProbeResult } from '#core/delivery/probes.ts'
import type { Aspect } from '#core/delivery/probe-reading.ts'
import { toWireTime, wireTime } from './time.ts'

const milliseconds = z.int().min(0)

export const testShape = z
  .object({
    ok: z.boolean(),
    steps: z.array(z.object({ step: z.string(), ok: z.boolean(), detail: z.string(), milliseconds })),
  })
  .meta({ id: 'DestinationTest' })

const aspect = z.object({
  ok: z.boolean().nullable().meta({ description: 'null where there is nothing to check, or an earlier step failed.' }),
  detail: z.string(),
})

export const healthShape = z
  .object({
    destination_id: z.string(),
    checked_at: wireTime.meta({ description: 'When the probe was made.' }),
    reachability: aspect,
    tls: aspect,
    auth: aspect,
    latency_ms: milliseconds.meta({ description: 'Of the probe as a whole.' }),
    latency: z
      .object({ p50_ms: milliseconds.nullable(), p95_ms: milliseconds.nullable(), last_ms: milliseconds.nullable() })
      .meta({ description: 'Of the delivery attempts of the last hour, and of the last one; null without any.' }),
    breaker: z.object({
      state: z.enum(['closed', 'open', 'half_open']),
      since: wireTime.nullable(),
      reason: z.string().nullable(),
      next_trial_at: wireTime.nullable().meta({ description: 'When mail is let through again as a trial; null while closed.' }),
    }),
    last_hour: z.object({
      attempts: z.int(),
      errors: z.int().meta({ description: 'Attempts at which the destination did not do its part; refused recipients are no errors.' }),
      error_rate: z.number(),
      p50_ms: milliseconds.nullable(),
      p95_ms: milliseconds.nullable(),
    }),
  })
  .meta({ id: 'DestinationHealth' })

export const toWireTest = ({ ok, steps }: ProbeResult): z.input<typeof testShape> => ({
  ok,
  steps: steps.map((one) => ({ step: one.step, ok: one.ok, detail: one.detail, milliseconds: Math.round(one.milliseconds) })),
})

export const toWireHealth = (health: HealthSnapshot): z.input<typeof healthShape> => {
  const { breaker, lastHour } = health
  return {
    destination_id: health.destinationId,
    checked_at: toWireTime(health.checkedAt),
    reachability: copyOf(health.reachability),
    tls: copyOf(health.tls),
    auth: copyOf(health.auth),
    latency_ms: Math.round(health.latencyMs),
    latency: { p50_ms: lastHour.p50Ms, p95_ms: lastHour.p95Ms, last_ms: lastHour.lastMs },
    breaker: {
      state: breaker.phase,
      since: breaker.since === null ? null : toWireTime(breaker.since),
      reason: breaker.reason,
      next_trial_at: breaker.until === null ? null : toWireTime(breaker.until),
    },
    last_hour: {
      attempts: lastHour.attempts,
      errors: lastHour.errors,
      error_rate: Math.round(lastHour.errorRate * 10_000) / 10_000,
      p50_ms: lastHour.p50Ms,
      p95_ms: lastHour.p95Ms,
    },
  }
}

const copyOf = (given: Aspect) => ({ ...given })
