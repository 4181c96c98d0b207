/** The limits of an organization on the wire. */
import * as z from 'zod'
import { countedLimits, includedFeatures, type Plan, type PlanOverrides } from '#config/plans/plans.ts'

export const limitNames = [...countedLimits, ...includedFeatures]
export const limitWireName = (limit: string): string => limit.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const wireNames = new Map(limitNames.map((limit) => [limit, limitWireName(limit)]))

export const limitValues = z.record(z.string(), z.union([z.int(), z.boolean(), z.null()]))

export const toWireLimits = (values: Plan | PlanOverrides): Record<string, number | boolean | null> =>
  Object.fromEntries(limitNames.map((limit) => [wireNames.get(limit) ?? limit, values[limit] ?? null]))
