/** The project state on the wire. Spec "Routing rule, failover policy, project state". */
import * as z from 'zod'
import { planNames } from '#config/plans.ts'
import { noRoutePolicies } from '#core/tenancy/organization.ts'
import type { NewProject, ProjectChanges, ProjectState, ProjectView } from '#core/administration/projects.ts'
import { claimProgressShape, toWireClaimProgress } from './claim.ts'
import { environmentName, filledLine, id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const policy = z.enum(noRoutePolicies)

export const projectStateShape = z
  .object({
    status: z.enum(['anonymous', 'claimed']),
    project_id: z.string(),
    name: z.string(),
    plan_tier: z.enum(planNames),
    sends_today: z.int().meta({ description: 'Of all projects of the organization, in this UTC day.' }),
    sends_cap: z.int().nullable(),
    send_budget: z.int().optional(),
    claim_progress: claimProgressShape,
    no_route_policy: z.enum(noRoutePolicies),
    monthly_capture_cap: z.int().nullable(),
    captures_this_month: z.int(),
  })
  .meta({ id: 'ProjectState' })

export const projectShape = z
  .object({
    id: z.string(),
    name: z.string(),
    parent_id: z.string().nullable().meta({ description: 'The project whose partition it is.' }),
    sub_project_ids: z.array(z.string()).meta({ description: 'Its partitions, the newest first.' }),
    is_default: z.boolean().meta({ description: 'The project Default of the organization, which cannot be deleted.' }),
    status: z.enum(['anonymous', 'claimed']),
    no_route_policy: z.enum(noRoutePolicies),
    environment: z.string().nullable(),
    send_budget: z.int().nullable().meta({ description: 'Sends a day, UTC; null is no cap of its own, and the plan still counts.' }),
    sends_today: z.int().meta({ description: 'Its own, in this UTC day; those of its partitions count there.' }),
    monthly_capture_cap: z.int().nullable().meta({ description: 'What holds: its own, or that of the plan; null is no cap.' }),
    captures_this_month: z.int(),
    created_at: wireTime,
  })
  .meta({ id: 'Project' })

const limit = z.int().min(0).max(1_000_000_000).nullable()

const changes = {
  no_route_policy: policy.optional().meta({ description: 'What happens to sends that match no destination.' }),
  environment: environmentName.nullable().optional().meta({
    description: 'Mail that no routing rule matches goes to the destination of this environment that takes mail then.',
  }),
  send_budget: limit.optional().meta({ description: 'Sends a day, UTC; null is no cap of its own.' }),
  monthly_capture_cap: limit.optional().meta({ description: 'Captures a month, UTC; null is that of the plan.' }),
}

const name = filledLine(100)
export const newProjectBody = z.strictObject({
  name,
  parent_id: id.optional().meta({ description: 'Makes a partition of this project. Plans pro and enterprise.' }),
  ...changes,
})
export const projectChangesBody = z.strictObject({ name: name.optional(), ...changes })

/** `value` is another name for `no_route_policy`. */
export const noRoutePolicyBody = z
  .strictObject({ no_route_policy: policy.optional(), value: policy.optional() })
  .refine((body) => (body.no_route_policy === undefined) !== (body.value === undefined), {
    path: ['no_route_policy'],
    message: `is required, once: ${noRoutePolicies.join(', ')}`,
  })

export const toWireProjectState = ({
  project,
  claim,
  plan,
  sendsToday,
  sendsCap,
  capturesThisMonth,
  capturesCap,
}: ProjectState): z.input<typeof projectStateShape> => ({
  status: project.status,
  project_id: project.id,
  name: project.name,
  plan_tier: plan,
  sends_today: sendsToday,
  sends_cap: sendsCap,
  ...(project.sendBudget !== null && { send_budget: project.sendBudget }),
  claim_progress: toWireClaimProgress(claim),
  no_route_policy: project.noRoutePolicy,
  monthly_capture_cap: capturesCap,
  captures_this_month: capturesThisMonth,
})

export const toProjectChanges = (body: z.output<typeof projectChangesBody>): ProjectChanges => ({
  name: body.name,
  noRoutePolicy: body.no_route_policy,
  environment: body.environment,
  sendBudget: body.send_budget,
  monthlyCaptureCap: body.monthly_capture_cap,
})

export const toNewProject = (body: z.output<typeof newProjectBody>): NewProject => ({
  ...toProjectChanges(body),
  name: body.name,
  parentId: body.parent_id,
})

export const toWireProject = ({
  project,
  subProjectIds,
  sendsToday,
  capturesThisMonth,
  capturesCap,
}: ProjectView): z.input<typeof projectShape> => ({
  id: project.id,
  name: project.name,
  parent_id: project.parentId ?? null,
  sub_project_ids: [...subProjectIds],
  is_default: project.isDefault,
  status: project.status,
  no_route_policy: project.noRoutePolicy,
  environment: project.environment ?? null,
  send_budget: project.sendBudget,
  sends_today: sendsToday,
  monthly_capture_cap: capturesCap,
  captures_this_month: capturesThisMonth,
  created_at: toWireTime(project.createdAt),
})
