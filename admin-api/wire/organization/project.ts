/** The project state on the wire. Spec "Routing rule, failover policy, project state". */
import * as z from 'zod'
import { planNames } from '#config/plans/plans.ts'
import { noRoutePolicies, sendApprovals, type Project } from '#core/tenancy/organization.ts'
import type { ProjectState, ProjectView } from '#core/administration/projects.ts'
import { claimProgress } from './claim.ts'
import { encoder } from '../fields/codec.ts'
import { environmentName, id, nameLine } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

const policy = z.enum(noRoutePolicies)

const projectSends = z.int().meta({
  description: 'Sends of this project on the current UTC day, without those of its partitions; `send_budget` limits them.',
})

const projectStateShape = z
  .object({
    status: z.enum(['anonymous', 'claimed']),
    project_id: z.string(),
    name: z.string(),
    plan_tier: z.enum(planNames),
    sends_today: z
      .int()
      .meta({ description: 'Sends of all projects of the organization on the current UTC day; `sends_cap` limits them.' }),
    sends_cap: z.int().nullable().meta({ description: 'Sends of the organization per UTC day; null is no cap.' }),
    project_sends_today: projectSends,
    send_budget: z.int().optional().meta({ description: 'Sends of this project per UTC day; absent without a budget.' }),
    claim_progress: claimProgress.schema,
    no_route_policy: policy,
    monthly_capture_cap: z.int().nullable(),
    captures_this_month: z.int(),
  })
  .meta({ id: 'ProjectState' })

const projectShape = z
  .object({
    id: z.string(),
    name: z.string(),
    parent_id: z.string().nullable().meta({ description: 'The project that this partition belongs to; null for a project.' }),
    sub_project_ids: z.array(z.string()).meta({ description: 'Its partitions, newest first.' }),
    is_default: z.boolean().meta({ description: 'Whether this is the project Default of the organization, which cannot be deleted.' }),
    status: z.enum(['anonymous', 'claimed']),
    no_route_policy: policy,
    agent_send_approval: z.enum(sendApprovals),
    approvals_waiting: z.int().meta({ description: 'Messages of agents that wait for the approval of a member now; 10,000 at most.' }),
    environment: z.string().nullable(),
    send_budget: z.int().nullable().meta({ description: 'Sends per UTC day; null is no budget, and the limit of the plan still applies.' }),
    project_sends_today: projectSends,
    monthly_capture_cap: z.int().nullable().meta({ description: 'The effective cap: its own, or that of the plan; null is no cap.' }),
    captures_this_month: z.int(),
    created_at: wireTime,
  })
  .meta({ id: 'Project' })

const limit = z.int().min(0).max(1_000_000_000).nullable()

const changes = {
  no_route_policy: policy.optional().meta({ description: 'Decides about sends that match no destination.' }),
  agent_send_approval: z.enum(sendApprovals).optional().meta({
    description:
      '`always`: what an agent sends to real recipients waits until a member has seen and approved it; also for partitions of the project. Defaults to `never`.',
  }),
  environment: environmentName.nullable().optional().meta({
    description: 'Mail that no routing rule matches goes to the first live, healthy destination of this environment.',
  }),
  send_budget: limit.optional().meta({ description: 'Sends per UTC day; null is no budget.' }),
  monthly_capture_cap: limit.optional().meta({ description: 'Captures per UTC month; null applies the cap of the plan.' }),
}

const name = nameLine(100)
export const newProject = z.strictObject({
  name,
  parent_id: id.optional().meta({ description: 'Creates a partition of this project. Requires the plan pro or enterprise.' }),
  ...changes,
})
export const projectChanges = z.strictObject({ name: name.optional(), ...changes })

/** `value` is another name for `no_route_policy`. */
export const noRoutePolicyChoice = z
  .strictObject({ no_route_policy: policy.optional(), value: policy.optional() })
  .refine((body) => (body.no_route_policy === undefined) !== (body.value === undefined), {
    path: ['no_route_policy'],
    message: `is required, once: ${noRoutePolicies.join(', ')}`,
  })

const fieldsOf = <View extends { readonly project: Project }>({ project, ...rest }: View) => ({ ...project, ...rest })

export const projectState = encoder(projectStateShape)
  .from<Project & Omit<ProjectState, 'project'>>({
    project_id: ({ id }) => id,
    plan_tier: ({ plan }) => plan,
    send_budget: ({ sendBudget }) => sendBudget ?? undefined,
    claim_progress: ({ claim }) => claimProgress.encode(claim),
    monthly_capture_cap: ({ capturesCap }) => capturesCap,
  })
  .via(fieldsOf<ProjectState>)

export const project = encoder(projectShape)
  .from<Project & Omit<ProjectView, 'project'>>({
    monthly_capture_cap: ({ capturesCap }) => capturesCap,
    agent_send_approval: ({ agentSendApproval }) => agentSendApproval ?? 'never',
  })
  .via(fieldsOf<ProjectView>)
