/** Simulation of stored traces with changed settings, on the wire. */
import * as z from 'zod'
import type { TraceSimulation } from '#core/submission/simulate/simulate.ts'
import type { WhatIfPage, WhatIfRequest } from '#core/submission/simulate/what-if.ts'
import { planNames } from '#config/plans/plans.ts'
import { noRoutePolicies } from '#core/tenancy/organization.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { encoder, type Decoded } from '../fields/codec.ts'
import { pageOf } from '../fields/paging.ts'
import { id } from '../fields/text.ts'
import { timeInput, toWireTime, wireTime } from '../fields/time.ts'
import { outcomes, traceOutcomes } from '../sending/trace.ts'
import { failoverPolicyInput } from './failover-policy.ts'
import { newRoutingRule } from './routing-rule.ts'

const maxPage = 200

export const whatIfInput = z.strictObject({
  project_id: id.optional(),
  since: timeInput.optional().meta({ description: 'Traces accepted at or after this time. Defaults to seven days ago.' }),
  until: timeInput.optional().meta({ description: 'Traces accepted before this time. Defaults to now.' }),
  limit: z
    .int()
    .min(1)
    .max(maxPage)
    .optional()
    .meta({ description: `Maximum number of entries, from 1 to ${maxPage}. Defaults to 50.` }),
  cursor: z
    .string()
    .max(1024)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be the unchanged next_cursor of the previous page')
    .optional()
    .meta({ description: 'The `next_cursor` of the previous page, with the same changes.' }),
  rules: z
    .array(z.strictObject({ ...newRoutingRule.def.shape }).omit({ project_id: true }))
    .max(20)
    .optional()
    .meta({ description: 'Additional rules of the project.' }),
  without_rule_ids: z.array(id).max(100).optional().meta({ description: 'Rules of the project to omit.' }),
  failover: z
    .strictObject({ ...failoverPolicyInput.def.shape })
    .omit({ project_id: true })
    .optional(),
  down_ids: z.array(id).max(20).optional().meta({ description: 'Destinations treated as unavailable, as with an open circuit breaker.' }),
  send_budget: z.int().min(0).max(1_000_000_000).nullable().optional().meta({ description: 'Sends per UTC day; null means no budget.' }),
  monthly_capture_cap: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .nullable()
    .optional()
    .meta({ description: 'Captures per UTC month; null means the limit of the plan.' }),
  plan: z.enum(planNames).optional().meta({ description: 'Simulates this plan for the organization, with its agreed overrides.' }),
  no_route_policy: z.enum(noRoutePolicies).optional(),
})

const decidedShape = z.object({
  outcome: z.enum(outcomes).nullable().meta({ description: 'null if the message would be refused.' }),
  reason: z.string(),
  rule_id: z.string().nullable(),
  destination_id: z.string().nullable(),
  first_destination_id: z.string().nullable().meta({ description: 'The destination of the first attempt; differs after a failover.' }),
  refusal: z.object({ code: z.string(), message: z.string() }).nullable(),
  suppressed: z.int().meta({ description: 'Number of recipients that would be suppressed.' }),
})

const entryShape = z
  .object({
    trace_id: z.string(),
    at: wireTime,
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string(),
    earlier: z.object({ outcome: z.enum(traceOutcomes), destination_id: z.string().nullable() }),
    now: decidedShape,
    differs: z.boolean(),
  })
  .meta({ id: 'SimulatedTrace' })

const shape = pageOf(entryShape).meta({ id: 'RoutingWhatIf' })

const decided = encoder(decidedShape).from<TraceSimulation>({
  outcome: ({ refusal, decision }) => (refusal ? null : (decision?.outcome ?? null)),
  reason: ({ refusal, decision }) => refusal?.message ?? decision?.reason ?? '',
  rule_id: ({ route }) => route?.ruleId ?? null,
  destination_id: ({ decision }) => decision?.destinationId ?? null,
  first_destination_id: ({ firstAttempt }) => firstAttempt?.destinationId ?? null,
  refusal: ({ refusal }) => (refusal ? { code: refusal.code, message: refusal.message } : null),
  suppressed: ({ suppressed }) => suppressed?.size ?? 0,
})

const entry = encoder(entryShape).from<TraceSimulation>({
  trace_id: ({ trace }) => trace.id,
  at: ({ trace }) => toWireTime(trace.createdAt),
  from: ({ trace }) => trace.headerFrom || trace.mailFrom,
  to: ({ trace }) => trace.recipients.map(({ address }) => address),
  subject: ({ trace }) => decodeEncodedWords(trace.subject),
  earlier: ({ trace }) => ({ outcome: trace.outcome, destination_id: trace.destinationId }),
  now: decided.encode,
  differs: ({ differences, refusal, firstAttempt, trace }) =>
    refusal !== undefined ||
    differences.some(({ field }) => field === 'outcome' || field === 'destination_id') ||
    (firstAttempt !== undefined && firstAttempt.destinationId !== (trace.failover?.primaryId ?? trace.destinationId)),
})

export const whatIf = encoder(shape).from<WhatIfPage>({
  data: ({ rows }) => rows.map(entry.encode),
  next_cursor: ({ nextCursor }) => nextCursor ?? null,
})

export const toWhatIfRequest = ({ failover, rules, ...given }: Decoded<typeof whatIfInput>): WhatIfRequest => ({
  ...given,
  limit: given.limit ?? 50,
  rules: (rules ?? []).map(({ destinationId, environment, ...rule }) => ({
    ...rule,
    destinationId: destinationId ?? undefined,
    environment: environment ?? undefined,
  })),
  withoutRuleIds: given.withoutRuleIds ?? [],
  downIds: given.downIds ?? [],
  failover: failover && { primaryId: failover.primaryId, fallbackIds: failover.fallbackIds, ...failover.conditions },
})
