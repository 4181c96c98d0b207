/** The operator’s view and settings of an organization, on the wire. */
import * as z from 'zod'
import { featureNames } from '#config/plans/features.ts'
import { countedLimits, includedFeatures, planNames } from '#config/plans/plans.ts'
import { axisNames } from '#config/plans/prices.ts'
import type { FlagChanges, OrganizationAccount, OverrideChanges } from '#core/billing/operator.ts'
import { limitsOf, paymentStates } from '#core/plan/limits.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { camel, encoder } from '../fields/codec.ts'
import { limitNames, limitValues, limitWireName, toWireLimits } from '../fields/limits.ts'
import { id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

/** Far above any real value, and far below the limit of exact integer sums. */
const maxNumber = 1_000_000_000
/** Ten thousand francs. */
const maxUnitPrice = 1_000_000_000_000

const organizationFields = {
  id: z.string(),
  name: z.string(),
  plan: z.enum(planNames),
  payment_state: z.enum(paymentStates),
  created_at: wireTime,
  owner_id: z.string().nullable().meta({ description: 'The organization that created this one.' }),
  deleted_at: wireTime.nullable().meta({ description: 'Deleted organizations can be restored until they are permanently removed.' }),
}
const organizationShape = z.object(organizationFields).meta({ id: 'OperatorOrganization' })

const accountShape = z
  .object({
    ...organizationFields,
    limits: limitValues.meta({ description: 'The effective limits: the plan with the overrides; null means no limit.' }),
    overrides: limitValues.meta({ description: 'Limits set for this organization; -1 means no limit.' }),
    flags: z.record(z.string(), z.boolean()).meta({ description: 'Flags set for this organization; other flags have their defaults.' }),
    prices: z.array(z.object({ axis: z.enum(axisNames), unit_price_urp: z.int(), effective_from: z.string(), set_at: wireTime })),
  })
  .meta({ id: 'OperatorAccount' })

const paymentState = { payment_state: ({ paymentState: state }: Organization) => state ?? 'none' }
export const organization = encoder(organizationShape).from<Organization>(paymentState)

export const account = encoder(accountShape)
  .from<Organization & Pick<OrganizationAccount, 'prices'>>({
    ...paymentState,
    limits: (settings) => toWireLimits(limitsOf(settings)),
    overrides: ({ overrides = {} }) => Object.fromEntries(Object.entries(toWireLimits(overrides)).filter(([, value]) => value !== null)),
    flags: ({ flags = {} }) => flags,
  })
  .via((shown: OrganizationAccount) => ({ ...shown.organization, prices: shown.prices }))

export const planChoice = z.strictObject({ id, plan: z.enum(planNames) })
export const paymentStateChoice = z.strictObject({ id, payment_state: z.enum(paymentStates) })

type Given = Readonly<Record<string, unknown>>

const number = z.int().min(-1).max(maxNumber).nullable().optional()
const days = number.refine((value) => value !== 0, 'must be at least 1, or -1 for no limit')
export const limitChoices = z
  .strictObject({
    id,
    ...Object.fromEntries(countedLimits.map((limit) => [limitWireName(limit), limit === 'retentionDays' ? days : number])),
    ...Object.fromEntries(includedFeatures.map((limit) => [limitWireName(limit), z.boolean().nullable().optional()])),
  })
  .meta({ description: '-1 means no limit; null removes an override. Omitted fields keep their values.' })
export const toOverrideChanges = (given: Given): OverrideChanges => Object.fromEntries(limitNames.map((limit) => [limit, given[limit]]))

export const flagChoices = z
  .strictObject({ id, ...Object.fromEntries(featureNames.map((flag) => [flag, z.boolean().nullable().optional()])) })
  .meta({ description: 'null restores the default of a flag. Omitted flags keep their values.' })
/** Flags have the same names in the core as on the wire. */
export const toFlagChanges = (given: Given): FlagChanges => Object.fromEntries(featureNames.map((flag) => [flag, given[camel(flag)]]))

export const priceChoices = z.strictObject({
  id,
  prices: z
    .array(
      z.strictObject({
        axis: z.enum(axisNames),
        unit_price_urp: z.int().min(0).max(maxUnitPrice).meta({ description: 'Price of one unit in millionths of a rappen.' }),
        effective_from: z
          .string()
          .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
          .optional()
          .meta({ description: 'The first month with the price. Defaults to the current month.' }),
      }),
    )
    .min(1)
    .max(50),
})
