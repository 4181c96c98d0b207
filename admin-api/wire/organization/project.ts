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
  description: 'Sends of this project on the current UTC day, without sends of its partitions; limited by `send_budget`.',
})

const projectStateShape = z
  .object({
    status: z.enum(['anonymous', 'claimed']),
    project_id: z.string(),
    name: z.string(),
    plan_tier: z.enum(planNames),
    sends_today: z.int().meta({ description: 'Sends of all projects of the organization on the current UTC day; limited by `sends_cap`.' }),
    sends_cap: z.int().nullable().meta({ description: 'Maximum sends of the organization per UTC day; null means no limit.' }),
    project_sends_today: projectSends,
    send_budget: z.int().optional().meta({ description: 'Maximum sends of this project per UTC day; absent without a budget.' }),
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
    parent_id: z.string().nullable().meta({ description: 'The parent project of this partition; null for a project.' }),
    sub_project_ids: z.array(z.string()).meta({ description: 'Partitions of the project, newest first.' }),
    is_default: z.boolean().meta({ description: 'Whether this is the project Default of the organization, which cannot be deleted.' }),
    status: z.enum(['anonymous', 'claimed']),
    no_route_policy: policy,
    agent_send_approval: z.enum(sendApprovals),
    approvals_waiting: z
      .int()
      .meta({ description: 'Number of agent messages that currently wait for a member’s approval; at most 10,000.' }),
    environment: z.string().nullable(),
    send_budget: z
      .int()
      .nullable()
      .meta({ description: 'Sends per UTC day; null means no budget, and the limit of the plan still applies.' }),
    project_sends_today: projectSends,
    monthly_capture_cap: z
      .int()
      .nullable()
      .meta({ description: 'The effective cap: the project’s own, or else the plan’s; null means no cap.' }),
    captures_this_month: z.int(),
    created_at: wireTime,
  })
  .meta({ id: 'Project' })

const limit = z.int().min(0).max(1_000_000_000).nullable()

const changes = {
  no_route_policy: policy.optional().meta({ description: 'Outcome of sends without a matching destination.' }),
  agent_send_approval: z
    .enum(sendApprovals)
    .optional()
    .meta({
      description:
        '`always`: messages of agents to real recipients require the approval of a member; also for partitions of the project. ' +
        'Defaults to `never`.',
    }),
  environment: environmentName.nullable().optional().meta({
    description: 'Mail without a matching routing rule uses the first live, healthy destination of this environment.',
  }),
  send_budget: limit.optional().meta({ description: 'Sends per UTC day; null means no budget.' }),
  monthly_capture_cap: limit.optional().meta({ description: 'Captures per UTC month; null applies the cap of the plan.' }),
}

const name = nameLine(100)
export const newProject = z.strictObject({
  name,
  parent_id: id.optional().meta({ description: 'Creates a partition of this project. Requires the plan pro or enterprise.' }),
  ...changes,
})
export const projectChanges = z.strictObject({ name: name.optional(), ...changes })

/** `value` is an alias of `no_route_policy`. */
export const noRoutePolicyChoice = z
  .strictObject({ no_route_policy: policy.optional(), value: policy.optional() })
  .refine((body) => (body.no_route_policy === undefined) !== (body.value === undefined), {
    path: ['no_route_policy'],
    message: `give exactly one of no_route_policy and value: ${noRoutePolicies.join(', ')}`,
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
