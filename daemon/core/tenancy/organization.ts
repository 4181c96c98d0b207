/** Organizations and their projects: who owns what. Spec "Project rules". */
import { planNames, type PlanName } from '#config/plans.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

/** Spec "Relay or capture decision" 4. */
export const noRoutePolicies = ['capture', 'reject', 'relay_default'] as const
export type NoRoutePolicy = (typeof noRoutePolicies)[number]

export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: PlanName
  readonly defaultProjectId: string
  /** By name of the feature; one that is not there has its default (`config/features.ts`). */
  readonly flags?: Readonly<Record<string, boolean>> | undefined
  readonly createdAt: number
}

export interface Project {
  readonly id: string
  readonly name: string
  /** An anonymous project only ever captures (spec "Relay or capture decision" 1). */
  readonly status: 'anonymous' | 'claimed'
  /** The organization's default project cannot be deleted. */
  readonly isDefault: boolean
  readonly noRoutePolicy: NoRoutePolicy
  /** Sends a day, UTC; null is no cap (spec "Project rules" 8). */
  readonly sendBudget: number | null
  /** Captures a month, UTC; null is no cap (spec "Relay or capture decision" 5). */
  readonly monthlyCaptureCap: number | null
  readonly createdAt: number
}

export const organizations = defineRecord<Organization>({
  name: 'organization',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    plan: z.enum(planNames),
    defaultProjectId: z.string(),
    flags: z.record(z.string(), z.boolean()).optional(),
    createdAt: z.int(),
  }),
  isSetting: true,
})

export const projects = defineRecord<Project>({
  name: 'project',
  schema: z.strictObject({
    id: z.string(),
    name: z.string(),
    status: z.enum(['anonymous', 'claimed']),
    isDefault: z.boolean(),
    noRoutePolicy: z.enum(noRoutePolicies),
    sendBudget: z.int().nullable(),
    monthlyCaptureCap: z.int().nullable(),
    createdAt: z.int(),
  }),
  isSetting: true,
  projectOf: (project) => project.id,
})
