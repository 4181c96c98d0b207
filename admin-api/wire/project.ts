/** The project state on the wire. Spec "Routing rule, failover policy, project state". */
import * as z from 'zod'
import { planNames } from '#config/plans.ts'
import { noRoutePolicies } from '#core/tenancy/organization.ts'
import type { ProjectState } from '#core/tenancy/projects.ts'

export const projectShape = z
  .object({
    status: z.enum(['anonymous', 'claimed']),
    project_id: z.string(),
    name: z.string(),
    plan_tier: z.enum(planNames),
    sends_today: z.int().meta({ description: 'Of all projects of the organization, in this UTC day.' }),
    sends_cap: z.int().nullable(),
    send_budget: z.int().optional(),
    claim_progress: z.object({
      claimed: z.boolean(),
      user_id: z.string().nullable(),
      claim_email: z.string().nullable(),
      magic_link_sent_at: z.string().nullable(),
      magic_link_expires_at: z.string().nullable(),
      magic_link_pending: z.boolean(),
    }),
    no_route_policy: z.enum(noRoutePolicies),
    monthly_capture_cap: z.int().nullable(),
    captures_this_month: z.int(),
  })
  .meta({ id: 'ProjectState' })

const policy = z.enum(noRoutePolicies)

/** `value` is another name for `no_route_policy`. */
export const noRoutePolicyBody = z
  .strictObject({ no_route_policy: policy.optional(), value: policy.optional() })
  .refine((body) => (body.no_route_policy === undefined) !== (body.value === undefined), {
    path: ['no_route_policy'],
    message: `is required, once: ${noRoutePolicies.join(', ')}`,
  })

export const toWireProject = ({
  project,
  plan,
  sendsToday,
  sendsCap,
  capturesThisMonth,
  capturesCap,
}: ProjectState): z.input<typeof projectShape> => ({
  status: project.status,
  project_id: project.id,
  name: project.name,
  plan_tier: plan,
  sends_today: sendsToday,
  sends_cap: sendsCap,
  ...(project.sendBudget !== null && { send_budget: project.sendBudget }),
  claim_progress: {
    claimed: project.status === 'claimed',
    user_id: null,
    claim_email: null,
    magic_link_sent_at: null,
    magic_link_expires_at: null,
    magic_link_pending: false,
  },
  no_route_policy: project.noRoutePolicy,
  monthly_capture_cap: capturesCap,
  captures_this_month: capturesThisMonth,
})
