/** Plans on the wire. */
import * as z from 'zod'
import { monthlyCredits } from '#config/plans/credits.ts'
import { planNames, plans, type PlanName } from '#config/plans/plans.ts'
import { encoder } from '../fields/codec.ts'
import { limitValues, toWireLimits } from '../fields/limits.ts'
import { listEncoder } from '../fields/paging.ts'

const planShape = z
  .object({
    name: z.enum(planNames),
    limits: limitValues.meta({ description: 'Limits of the plan. null means no limit; for a fee, null means by contract.' }),
    credits_per_month: z.int().nullable().meta({ description: 'Credits included per month; null means by contract.' }),
  })
  .meta({ id: 'Plan' })

const plan = encoder(planShape).from<{ readonly name: PlanName }>({
  limits: ({ name }) => toWireLimits(plans[name]),
  credits_per_month: ({ name }) => monthlyCredits[name].credits ?? null,
})

/** All plans, the smallest first. */
export const allPlans = listEncoder(plan).via((_: void) => planNames.map((name) => ({ name })))
