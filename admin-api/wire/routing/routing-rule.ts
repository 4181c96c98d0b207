/** Routing rules on the wire. Spec "Routing rule". */
import * as z from 'zod'
import type { RoutingRule } from '#core/routing/rule.ts'
import type { ChangedRule } from '#core/routing/rules/rules.ts'
import { encoder } from '../fields/codec.ts'
import { besideFaults, environmentName, filledLine, id, nullAsAbsent } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'
import { routeWarnings } from './destination.ts'

const routingRuleShape = z
  .object({
    id: z.string(),
    project_id: z.string(),
    match: z.union([z.object({ from: z.string() }), z.object({ domain: z.string() }), z.object({ any: z.literal(true) })]),
    destination_id: z.string().nullable().meta({ description: 'Null if the rule selects an environment.' }),
    environment: z.string().nullable(),
    priority: z.int(),
    created_at: wireTime,
  })
  .meta({ id: 'RoutingRule' })

const match = z
  .union(
    [
      filledLine(320),
      z.strictObject({ from: filledLine(320) }),
      z.strictObject({ domain: filledLine(256) }),
      z.strictObject({ any: z.literal(true) }),
    ],
    { error: ({ input }) => (isOneMatch(input) ? undefined : 'give exactly one of from, domain, any') },
  )
  .meta({
    description:
      'The From to match: an address, a domain, *.domain for its subdomains at any depth, or *; or an object with exactly one ' +
      'field: {"from"}, {"domain"} or {"any": true}.',
  })
/** Values other than objects have a separate error. */
function isOneMatch(input: unknown): boolean {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return true
  return ['from', 'domain', 'any'].filter((name) => name in input).length === 1
}

const priority = z.int().min(0).max(1_000_000).meta({ description: 'Rules with smaller numbers are evaluated first. Defaults to 100.' })

const way = {
  destination_id: nullAsAbsent(id).meta({ description: 'The destination of matching messages. Required unless `environment` is set.' }),
  environment: nullAsAbsent(environmentName).meta({
    description:
      'Alternative to a destination: selects the live, healthy destination of this environment with the smallest priority, or ' +
      'the oldest of several with that priority.',
  }),
}

export const newRoutingRule = z
  .strictObject({ match, ...way, priority: priority.optional(), project_id: id.optional() })
  .refine((body) => body.destination_id != null || body.environment != null, {
    ...besideFaults,
    path: ['destination_id'],
    message: 'is required unless environment is given',
  })
export const routingRuleChanges = z.strictObject({ match: match.optional(), ...way, priority: priority.optional() })

const changedRuleShape = routingRuleShape
  .extend({
    warnings: routeWarnings.meta({ description: '`rule_unreachable`: an earlier rule matches all its mail.' }),
  })
  .meta({ id: 'ChangedRoutingRule' })

export const routingRule = encoder(routingRuleShape).from<RoutingRule>()
export const changedRoutingRule = encoder(changedRuleShape).from<ChangedRule>({ warnings: ({ warnings }) => [...warnings] })
