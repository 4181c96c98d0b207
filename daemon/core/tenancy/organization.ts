/** Organizations and their projects: who owns what. Spec "Project rules". */
import { countedLimits, includedFeatures, planNames, type PlanName, type PlanOverrides } from '#config/plans.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import { limitsOf, paymentStates, type LimitSettings, type PaymentState } from '../limits.ts'

/** Spec "Relay or capture decision" 4. */
export const noRoutePolicies = ['capture', 'reject', 'relay_default'] as const
export type NoRoutePolicy = (typeof noRoutePolicies)[number]

export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: PlanName
  /** What holds in place of the plan's limits. */
  readonly overrides?: PlanOverrides | undefined
  /** `none` unless told. */
  readonly paymentState?: PaymentState | undefined
  readonly defaultProjectId: string
  /** The organization that made this one, a team organization. */
  readonly ownerId?: string | undefined
  /** From then on nothing of it works; its rows go after a time of grace. */
  readonly deletedAt?: number | undefined
  /** When its rows go, where that is not after the time of grace. */
  readonly removableAt?: number | undefined
  /** By name of the feature; one that is not there has its default (`config/features.ts`). */
  readonly flags?: Readonly<Record<string, boolean>> | undefined
  readonly createdAt: number
}

export interface Project {
  readonly id: string
  readonly name: string
  /** The project whose partition it is; a partition has none of its own. Spec "Project rules" 9. */
  readonly parentId?: string | undefined
  /** From then on it and all that belongs to it are not there any more; its rows go in the background. */
  readonly deletedAt?: number | undefined
  /** An anonymous project only ever captures (spec "Relay or capture decision" 1). */
  readonly status: 'anonymous' | 'claimed'
  /** The organization's default project cannot be deleted. */
  readonly isDefault: boolean
  readonly noRoutePolicy: NoRoutePolicy
  /** Where mail goes that no routing rule matches: to the destination of this environment that takes mail now. */
  readonly environment?: string | null | undefined
  /** Sends a day, UTC; null is no cap (spec "Project rules" 8). */
  readonly sendBudget: number | null
  /** Captures a month, UTC, where that is less than the plan's; null is the plan's (spec "Relay or capture decision" 5). */
  readonly monthlyCaptureCap: number | null
  readonly createdAt: number
}

const numbers = Object.fromEntries(countedLimits.map((limit) => [limit, z.int().min(-1).optional()]))
const switches = Object.fromEntries(includedFeatures.map((limit) => [limit, z.boolean().optional()]))
/** Overrides as they are kept. */
export const planOverridesSchema = z.strictObject({ ...numbers, ...switches }) as z.ZodType<PlanOverrides>

/** The captures that a project may have in a month; undefined is no cap. */
export function captureCapOf({ monthlyCaptureCap }: Project, organization: LimitSettings): number | undefined {
  const cap = Math.min(monthlyCaptureCap ?? Infinity, limitsOf(organization).capturesPerMonth ?? Infinity)
  return cap === Infinity ? undefined : cap
}

export const organizations = defineRecord<Organization>({
  name: 'organization',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    plan: z.enum(planNames),
    overrides: planOverridesSchema.optional(),
    paymentState: z.enum(paymentStates).optional(),
    defaultProjectId: z.string(),
    ownerId: z.string().optional(),
    deletedAt: z.int().optional(),
    removableAt: z.int().optional(),
    flags: z.record(z.string(), z.boolean()).optional(),
    createdAt: z.int(),
  }),
  // so those that an organization made are found, and counted while they are alive
  lookups: { owner: ({ id, ownerId, deletedAt }) => (ownerId === undefined || deletedAt !== undefined ? [] : [[ownerId, id]]) },
  isSetting: true,
  isTracked: true,
})

export const projects = defineRecord<Project>({
  name: 'project',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    parentId: z.string().optional(),
    deletedAt: z.int().optional(),
    status: z.enum(['anonymous', 'claimed']),
    isDefault: z.boolean(),
    noRoutePolicy: z.enum(noRoutePolicies),
    environment: z.string().nullable().optional(),
    sendBudget: z.int().nullable(),
    monthlyCaptureCap: z.int().nullable(),
    createdAt: z.int(),
  }),
  isSetting: true,
  isTracked: true,
  projectOf: (project) => project.id,
})
