/** Tests and health snapshots of destinations on the wire. Spec "Destination". */
import * as z from 'zod'
import { breakerCauses, type BreakerCause } from '#core/delivery/health/breaker.ts'
import type { BreakerView } from '#core/delivery/health/health-registry.ts'
import type { HealthSnapshot, KnownHealth, ProbeResult } from '#core/delivery/probe/probes.ts'
import type { HourFigures } from '#core/delivery/health/rolling-hour.ts'
import type { ProbeStep } from '#core/delivery/transport.ts'
import { encoder } from '../fields/codec.ts'
import { orNull, wireTime } from '../fields/time.ts'

const milliseconds = z.int().min(0)

export const probeStepShape = z.object({
  ...{ step: z.string(), ok: z.boolean(), detail: z.string(), milliseconds },
  code: z.string().nullable().meta({ description: 'The error of a failed step, such as `auth_failed`.' }),
  reply: z.string().nullable().meta({ description: 'The reply of the host to a failed step.' }),
  certificate_names: z.array(z.string()).nullable().meta({ description: 'Host names of a certificate for another host.' }),
})
const testShape = z.object({ ok: z.boolean(), steps: z.array(probeStepShape) }).meta({ id: 'DestinationTest' })

const aspect = z.object({
  ok: z.boolean().nullable().meta({ description: 'null if there is nothing to check, or an earlier step failed.' }),
  detail: z.string(),
})

const causeShape = z.object({
  code: z.enum(breakerCauses),
  failed: z.int().meta({ description: 'Number of failed attempts, out of `attempts`.' }),
  attempts: z.int(),
  error: z.object({
    code: z.string().meta({ description: 'Code of the latest failure, such as `connect_refused`.' }),
    message: z.string(),
  }),
})

export const breakerCause = encoder(causeShape).from<BreakerCause>({ error: ({ error: { code, message } }) => ({ code, message }) })

const breakerShape = z.object({
  state: z.enum(['closed', 'open', 'half_open']),
  since: wireTime.nullable(),
  reason: z.string().nullable(),
  cause: causeShape.nullable().meta({ description: 'The reason as codes and numbers; null while the breaker is closed.' }),
  next_trial_at: wireTime.nullable().meta({ description: 'Time of the next trial message; null while the circuit breaker is closed.' }),
})

const lastHourShape = z.object({
  attempts: z.int(),
  errors: z.int().meta({ description: 'Attempts that failed because of the destination; refused recipients are not errors.' }),
  error_rate: z.number(),
  p50_ms: milliseconds.nullable(),
  p95_ms: milliseconds.nullable(),
})

const healthShape = z
  .object({
    destination_id: z.string(),
    checked_at: wireTime.meta({ description: 'When the probe ran.' }),
    reachability: aspect,
    tls: aspect,
    auth: aspect,
    latency_ms: milliseconds.meta({ description: 'Duration of the whole probe.' }),
    latency: z
      .object({ p50_ms: milliseconds.nullable(), p95_ms: milliseconds.nullable(), last_ms: milliseconds.nullable() })
      .meta({ description: 'From the delivery attempts of the last hour, and the latest attempt; null if there are no attempts.' }),
    breaker: breakerShape,
    last_hour: lastHourShape,
  })
  .meta({ id: 'DestinationHealth' })

const knownShape = z
  .object({ destination_id: z.string(), breaker: breakerShape, last_hour: lastHourShape })
  .meta({ id: 'KnownDestinationHealth' })

export const probeStep = encoder(probeStepShape).from<ProbeStep>({
  milliseconds: (one) => Math.round(one.milliseconds),
  code: ({ code = null }) => code,
  reply: ({ reply = null }) => reply,
  certificate_names: ({ certificateNames }) => (certificateNames ? [...certificateNames] : null),
})
export const destinationTest = encoder(testShape).from<ProbeResult>({ steps: ({ steps }) => steps.map(probeStep.encode) })

const breaker = encoder(breakerShape).from<BreakerView>({
  state: ({ phase }) => phase,
  cause: ({ cause }) => cause && breakerCause.encode(cause),
  next_trial_at: ({ until }) => orNull(until),
})
const lastHour = encoder(lastHourShape).from<HourFigures>({ error_rate: ({ errorRate }) => Math.round(errorRate * 10_000) / 10_000 })

export const destinationHealth = encoder(healthShape).from<HealthSnapshot>({
  latency_ms: ({ latencyMs }) => Math.round(latencyMs),
  latency: ({ lastHour: { p50Ms, p95Ms, lastMs } }) => ({ p50_ms: p50Ms, p95_ms: p95Ms, last_ms: lastMs }),
  breaker: (health) => breaker.encode(health.breaker),
  last_hour: (health) => lastHour.encode(health.lastHour),
})

export const knownHealth = encoder(knownShape).from<KnownHealth>({
  breaker: (health) => breaker.encode(health.breaker),
  last_hour: (health) => lastHour.encode(health.lastHour),
})
