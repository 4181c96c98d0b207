/** Records of organizations and their projects. Spec "Project rules". */
import { countedLimits, includedFeatures, planNames, type PlanOverrides } from '#config/plans/plans.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { limitsOf, paymentStates, type LimitSettings } from '../plan/limits.ts'

/** Spec "Relay or capture decision" 4. */
export const noRoutePolicies = ['capture', 'reject', 'relay_default'] as const
export type NoRoutePolicy = (typeof noRoutePolicies)[number]

/** Whether a person must approve messages of agents to real recipients. */
export const sendApprovals = ['never', 'always'] as const
export type SendApprovalPolicy = (typeof sendApprovals)[number]

const numbers = Object.fromEntries(countedLimits.map((limit) => [limit, z.int().min(-1).optional()]))
const switches = Object.fromEntries(includedFeatures.map((limit) => [limit, z.boolean().optional()]))
/** Stored overrides. */
export const planOverridesSchema = z.strictObject({ ...numbers, ...switches }) as z.ZodType<PlanOverrides>

const organizationSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  plan: z.enum(planNames),
  /** Values that replace the plan's limits. */
  overrides: planOverridesSchema.optional(),
  /** `none` by default. */
  paymentState: z.enum(paymentStates).optional(),
  defaultProjectId: z.string(),
  /** The organization that created this team organization. */
  ownerId: z.string().optional(),
  /** Time of the deletion. Nothing of the organization works afterwards; its data is removed after a grace period. */
  deletedAt: z.int().optional(),
  /** Earliest removal of its data, if it differs from the end of the grace period. */
  removableAt: z.int().optional(),
  /** By feature name; features that are absent have their defaults (`config/plans/features.ts`). */
  flags: z.record(z.string(), z.boolean()).optional(),
  createdAt: z.int(),
})

export type Organization = Immutable<z.infer<typeof organizationSchema>>

/** Name of the first organization until its owner enters one. */
export const placeholderName = 'Default'

const projectSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** The parent project of a partition; a partition cannot have partitions. Spec "Project rules" 9. */
  parentId: z.string().optional(),
  /** Time of the deletion. The project and its resources are hidden afterwards; its data is removed in the background. */
  deletedAt: z.int().optional(),
  /** An anonymous project captures all mail (spec "Relay or capture decision" 1). */
  status: z.enum(['anonymous', 'claimed']),
  /** The organization's default project cannot be deleted. */
  isDefault: z.boolean(),
  noRoutePolicy: z.enum(noRoutePolicies),
  /** `never` by default. */
  agentSendApproval: z.enum(sendApprovals).optional(),
  /** Mail that matches no routing rule goes to the active destination of this environment. */
  environment: z.string().nullable().optional(),
  /** Sends per UTC day; null for no budget (spec "Project rules" 8). */
  sendBudget: z.int().nullable(),
  /** Captures per UTC month if lower than the plan's limit; null uses the plan's limit (spec "Relay or capture decision" 5). */
  monthlyCaptureCap: z.int().nullable(),
  createdAt: z.int(),
})

export type Project = Immutable<z.infer<typeof projectSchema>>

/** Returns the limit of captures per month; undefined for no limit. */
export function captureCapOf({ monthlyCaptureCap }: Project, organization: LimitSettings): number | undefined {
  const cap = Math.min(monthlyCaptureCap ?? Infinity, limitsOf(organization).capturesPerMonth ?? Infinity)
  return cap === Infinity ? undefined : cap
}

export const organizations = defineRecord<Organization>({
  name: 'organization',
  schema: organizationSchema,
  // index of active team organizations by the organization that created them
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
