/** Simulated sends on the wire. Spec "Routing rule". */
import * as z from 'zod'
import { refusals } from '#core/refusals.ts'
import type { Destination } from '#core/routing/destination.ts'
import type { Difference, Simulation, SimulationRequest, TraceSimulation } from '#core/submission/simulate/simulate.ts'
import type { SimulationStep } from '#core/submission/simulate/simulation.ts'
import { encoder, type Decoded } from '../fields/codec.ts'
import { mailbox, mailboxes } from '../fields/mailbox.ts'
import { besideFaults, environmentName, id } from '../fields/text.ts'
import { toWireTime, wireTime } from '../fields/time.ts'
import { outcomes, traceOutcomes } from '../sending/trace.ts'

const described = {
  from: mailbox.optional().meta({ description: 'Defaults to the From of a destination, as for a send.' }),
  to: mailboxes(100).optional(),
  cc: mailboxes(100).optional(),
  bcc: mailboxes(100).optional(),
  project_id: id.optional(),
  destination_id: id.nullable().optional(),
  environment: environmentName.nullable().optional().meta({ description: 'Alternative to destination_id.' }),
  smtp_credential_id: id.optional().meta({ description: 'Simulates a submission by SMTP with this credential.' }),
  size: z.int().min(0).optional().meta({ description: 'Size of the message in octets.' }),
  attachments: z.int().min(0).max(100).optional().meta({ description: 'Number of attachments.' }),
}

export const simulationInput = z
  .strictObject({
    trace_id: z.uuidv4().optional().meta({ description: 'Trace of an accepted message. Excludes all other fields.' }),
    ...described,
  })
  .refine((body) => body.trace_id === undefined || Object.values(body).filter((value) => value !== undefined).length === 1, {
    path: ['trace_id'],
    message: 'describes the whole message; omit all other fields',
  })
  .refine((body) => body.trace_id !== undefined || (body.to?.length ?? 0) > 0, {
    ...besideFaults,
    path: ['to'],
    message: 'is required; give from and to, or only trace_id',
  })
  .refine((body) => body.smtp_credential_id === undefined || body.destination_id == null, {
    path: ['destination_id'],
    message: 'has no effect on SMTP, where the credential names the destination; omit it',
  })
  .refine((body) => body.environment == null || (body.smtp_credential_id === undefined && body.destination_id == null), {
    path: ['environment'],
    message: 'replaces destination_id and smtp_credential_id; give only one of them',
  })
  .refine((body) => body.smtp_credential_id === undefined || body.from !== undefined, {
    path: ['from'],
    message: 'is required with smtp_credential_id',
  })

const steps = [
  'smtp_credential',
  'sender',
  'named_destination',
  'rule',
  'project_environment',
  'org_default',
  'project_status',
  'destination_mode',
  'no_route_policy',
  'limits',
  'suppressions',
  'failover',
] as const

const routeShape = z.object({
  by: z.string(),
  rule_id: z.string().nullable(),
  environment: z.string().nullable(),
  reason: z.string(),
})

const destinationShape = z.object({
  id: z.string(),
  name: z.string(),
  mode: z.enum(['sandbox', 'live']),
  scope: z.enum(['project', 'org']),
  is_org_default: z.boolean(),
})

const stepShape = z.object({
  step: z.enum(steps),
  result: z.enum(['passed', 'matched', 'not_matched', 'destination_gone', 'decided', 'refused', 'withheld', 'passed_over']),
  message: z.string(),
  rule_id: z.string().nullable(),
  destination_id: z.string().nullable(),
  code: z.string().nullable().meta({
    description:
      'The code of the result: of the refusal, of the refusal at a limit, the source of a suppression, or the condition of a failover.',
  }),
  used: z.int().nullable().meta({ description: 'Current or simulated use of the limit.' }),
  limit: z.int().nullable(),
  address: z.string().nullable().meta({ description: 'The address that the step is about.' }),
  wait_seconds: z.int().nullable().meta({ description: 'Wait before the first attempt, in seconds.' }),
})

const differenceShape = z.object({
  field: z.enum(['outcome', 'route_by', 'rule_id', 'destination_id']),
  earlier: z.string().nullable(),
  now: z.string().nullable(),
})

const earlierShape = z.object({
  trace_id: z.string(),
  at: wireTime,
  outcome: z.enum(traceOutcomes),
  reason: z.string(),
  destination_id: z.string().nullable(),
  route: routeShape,
  differences: z.array(differenceShape),
})

const simulationShape = z
  .object({
    outcome: z.enum(outcomes).nullable().meta({ description: 'null if the message would be refused.' }),
    reason: z.string(),
    project_id: z.string(),
    rule_id: z.string().nullable(),
    destination_id: z
      .string()
      .nullable()
      .meta({ description: 'The destination that relays the message, or would relay it if it were live.' }),
    destination: destinationShape.nullable(),
    route: routeShape.nullable(),
    refusal: z.object({ code: z.string(), status: z.int(), message: z.string(), next_action: z.string() }).nullable(),
    suppressed: z
      .array(z.object({ address: z.string(), suppression_id: z.string(), source: z.string(), reason: z.string().nullable() }))
      .meta({ description: 'Suppressed recipients, who would not receive the message.' }),
    first_attempt: z.object({ destination_id: z.string(), wait_seconds: z.int() }).nullable().meta({
      description: 'The destination of the first attempt, given the present health of destinations; null if nothing would be delivered.',
    }),
    steps: z.array(stepShape).meta({ description: 'The steps of the decision, in order. Rules after the first match are not evaluated.' }),
    earlier: earlierShape
      .nullable()
      .meta({ description: 'With trace_id: the actual outcome of the message, and the differences from it now.' }),
  })
  .meta({ id: 'RoutingSimulation' })

export const toSimulationRequest = ({
  from,
  to = [],
  cc = [],
  bcc = [],
  ...rest
}: Omit<Decoded<typeof simulationInput>, 'traceId'>): SimulationRequest => ({
  ...rest,
  from: from?.address,
  rcptTo: [...to, ...cc, ...bcc].map(({ address }) => address),
  destinationId: rest.destinationId ?? undefined,
  environment: rest.environment ?? undefined,
  size: rest.size ?? 0,
  attachments: rest.attachments ?? 0,
})

/** Keeps the field order from before the codec. */
const toWireRoute = ({ by, ruleId, environment, reason }: TraceSimulation['trace']['route']) => ({
  ...{ by, rule_id: ruleId, reason },
  environment: environment ?? null,
})

const destination = encoder(destinationShape).from<Destination>({
  scope: ({ shared }) => (shared === undefined ? 'project' : 'org'),
  is_org_default: ({ shared }) => shared === 'org_default',
})
const step = encoder(stepShape).from<SimulationStep>({
  wait_seconds: ({ waitMs }) => (waitMs === undefined ? null : Math.ceil(waitMs / 1000)),
})
const difference = encoder(differenceShape).from<Difference>()

const earlier = encoder(earlierShape).from<TraceSimulation>({
  trace_id: ({ trace }) => trace.id,
  at: ({ trace }) => toWireTime(trace.createdAt),
  outcome: ({ trace }) => trace.outcome,
  reason: ({ trace }) => trace.outcomeReason,
  destination_id: ({ trace }) => trace.destinationId,
  route: ({ trace }) => toWireRoute(trace.route),
  differences: ({ differences }) => differences.map(difference.encode),
})

export const simulation = encoder(simulationShape).from<Simulation | TraceSimulation>({
  outcome: ({ refusal, decision }) => (refusal ? null : (decision?.outcome ?? null)),
  reason: ({ refusal, decision }) => refusal?.message ?? decision?.reason ?? '',
  rule_id: ({ route }) => route?.ruleId ?? null,
  destination_id: (simulated) => simulated.destination?.id ?? null,
  destination: (simulated) => (simulated.destination ? destination.encode(simulated.destination) : null),
  route: ({ route }) => (route ? toWireRoute(route) : null),
  refusal: ({ refusal }) =>
    refusal ? { code: refusal.code, status: refusals[refusal.code].http, message: refusal.message, next_action: refusal.nextAction } : null,
  suppressed: ({ suppressed = [] }) =>
    [...suppressed].map(([address, { id: entry, source, reason }]) => ({ address, suppression_id: entry, source, reason })),
  first_attempt: ({ firstAttempt }) =>
    firstAttempt ? { destination_id: firstAttempt.destinationId, wait_seconds: Math.ceil(firstAttempt.waitMs / 1000) } : null,
  steps: (simulated) => simulated.steps.map(step.encode),
  earlier: (simulated) => ('trace' in simulated ? earlier.encode(simulated) : null),
})
