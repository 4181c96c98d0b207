/** Organizations and their projects: who owns what. Spec "Project rules". */
import { countedLimits, includedFeatures, planNames, type PlanOverrides } from '#config/plans/plans.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { limitsOf, paymentStates, type LimitSettings } from '../plan/limits.ts'

/** Spec "Relay or capture decision" 4. */
export const noRoutePolicies = ['capture', 'reject', 'relay_default'] as const
export type NoRoutePolicy = (typeof noRoutePolicies)[number]

/** Whether a person approves what an agent sends to real recipients. */
export const sendApprovals = ['never', 'always'] as const
export type SendApprovalPolicy = (typeof sendApprovals)[number]

const numbers = Object.fromEntries(countedLimits.map((limit) => [limit, z.int().min(-1).optional()]))
const switches = Object.fromEntries(includedFeatures.map((limit) => [limit, z.boolean().optional()]))
/** Overrides as they are kept. */
export const planOverridesSchema = z.strictObject({ ...numbers, ...switches }) as z.ZodType<PlanOverrides>

const organizationSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  plan: z.enum(planNames),
  /** What holds in place of the plan's limits. */
  overrides: planOverridesSchema.optional(),
  /** `none` by default. */
  paymentState: z.enum(paymentStates).optional(),
  defaultProjectId: z.string(),
  /** The organization that made this one, a team organization. */
  ownerId: z.string().optional(),
  /** From then on nothing of it works; its rows go after a time of grace. */
  deletedAt: z.int().optional(),
  /** When its rows go, where that is not after the time of grace. */
  removableAt: z.int().optional(),
  /** By name of the feature; one that is not there has its default (`config/plans/features.ts`). */
  flags: z.record(z.string(), z.boolean()).optional(),
  createdAt: z.int(),
})

export type Organization = Immutable<z.infer<typeof organizationSchema>>

const projectSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** The project whose partition it is; a partition has none of its own. Spec "Project rules" 9. */
  parentId: z.string().optional(),
  /** From then on it and all that belongs to it are not there any more; its rows go in the background. */
  deletedAt: z.int().optional(),
  /** An anonymous project only ever captures (spec "Relay or capture decision" 1). */
  status: z.enum(['anonymous', 'claimed']),
  /** The organization's default project cannot be deleted. */
  isDefault: z.boolean(),
  noRoutePolicy: z.enum(noRoutePolicies),
  /** `never` by default. */
  agentSendApproval: z.enum(sendApprovals).optional(),
  /** Where mail goes that no routing rule matches: to the destination of this environment that takes mail now. */
  environment: z.string().nullable().optional(),
  /** Sends a day, UTC; null is no cap (spec "Project rules" 8). */
  sendBudget: z.int().nullable(),
  /** Captures a month, UTC, where that is less than the plan's; null is the plan's (spec "Relay or capture decision" 5). */
  monthlyCaptureCap: z.int().nullable(),
  createdAt: z.int(),
})

export type Project = Immutable<z.infer<typeof projectSchema>>

/** The captures that a project may have in a month; undefined is no cap. */
export function captureCapOf({ monthlyCaptureCap }: Project, organization: LimitSettings): number | undefined {
  const cap = Math.min(monthlyCaptureCap ?? Infinity, limitsOf(organization).capturesPerMonth ?? Infinity)
  return cap === Infinity ? undefined : cap
}

export const organizations = defineRecord<Organization>({
  name: 'organization',
  schema: organizationSchema,
  // so those that an organization made are found, and counted while they are alive
  lookups: { owner: ({ id, ownerId, deletedAt }) => (ownerId === undefined || deletedAt !== undefined ? [] : [[ownerId, id]]) },
  isSetting: true,
  isTracked: true,
})

export const projects = defineRecord<Project>({
  name: 'project',
  schema: projectSchema,
  isSetting: true,
  isTracked: true,
  projectOf: (project) => project.id,
})
