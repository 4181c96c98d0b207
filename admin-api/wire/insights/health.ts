/** The health of resources on the wire: endpoints, routes, sources, domains and websites. */
import * as z from 'zod'
import { healthStates, type Health } from '#core/health/health.ts'
import type { HasHealth } from '#core/health/resource-health.ts'
import { encoder } from '../fields/codec.ts'
import { wireTime } from '../fields/time.ts'

const shape = z
  .object({
    state: z.enum(healthStates).meta({
      description:
        '`failing`: an error is open. `warning`: a warning is open. `unknown`: nothing was seen yet, or the latest results failed and ' +
        'no finding is open yet. Independent of whether the resource is paused.',
    }),
    since: wireTime.nullable().meta({ description: 'Start of the problem; null without one.' }),
    last_success_at: wireTime.nullable().meta({
      description:
        'Latest time at which the receiver accepted a request (to the minute), the source sent a report, or a check found all records ' +
        'in DNS. Null if the latest check failed, and until the first success.',
    }),
    failures_in_a_row: z
      .int()
      .nullable()
      .meta({ description: 'Failed attempts since the latest success; null for resources that no request is sent to.' }),
    last_reply: z
      .string()
      .nullable()
      .meta({ description: 'HTTP status of the latest response, such as `410`; `no_response`, or `not_sent` if no request was made.' }),
    findings: z.array(z.string()).meta({ description: 'Kinds of the open findings about the resource, errors first.' }),
  })
  .meta({ id: 'ResourceHealth' })

const health = encoder(shape).from<Health>()

/** The field `health` of a resource. */
export const healthField = { health: shape }
export const healthCode = { health: (resource: HasHealth) => health.encode(resource.health) }
