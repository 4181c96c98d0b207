/** What the operator sees and sets of an organization, on the wire. */
import * as z from 'zod'
import { featureNames } from '#config/features.ts'
import { countedLimits, includedFeatures, planNames } from '#config/plans.ts'
import { axisNames } from '#config/prices.ts'
import type { FlagChanges, NewPrice, OrganizationAccount, OverrideChanges } from '#core/billing/operator.ts'
import { limitsOf, paymentStates } from '#core/limits.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import { limitNames, limitValues, limitWireName, toWireLimits } from './limits.ts'
import { toWireTime, wireTime } from './time.ts'

/** Far beyond any use, and far below where sums of integers lose their exactness. */
const numberMax = 1_000_000_000
/** Ten thousand francs. */
const unitPriceMax = 1_000_000_000_000

const organizationFields = {
  id: z.string(),
  name: z.string(),
  plan: z.enum(planNames),
  payment_state: z.enum(paymentStates),
  created_at: wireTime,
  owner_id: z.string().nullable().meta({ description: 'The organization that made this one.' }),
  deleted_at: wireTime.nullable().meta({ description: 'It is restored, or removed after its time of grace.' }),
}
export const organizationShape = z.object(organizationFields).meta({ id: 'OperatorOrganization' })

export const accountShape = z
  .object({
    ...organizationFields,
    limits: limitValues.meta({ description: 'What holds: the plan with the overrides; null is no limit.' }),
    overrides: limitValues.meta({ description: 'What was agreed on for this organization; -1 is no limit.' }),
    flags: z.record(z.string(), z.boolean()).meta({ description: 'Flags that were set; others have their default.' }),
    prices: z.array(z.object({ axis: z.enum(axisNames), unit_price_urp: z.int(), effective_from: z.string(), set_at: wireTime })),
  })
  .meta({ id: 'OperatorAccount' })

export const toWireOrganization = ({
  id,
  name,
  plan,
  paymentState,
  createdAt,
  ownerId,
  deletedAt,
}: Organization): z.input<typeof organizationShape> => ({
  ...{ id, name, plan },
  payment_state: paymentState ?? 'none',
  created_at: toWireTime(createdAt),
  owner_id: ownerId ?? null,
  deleted_at: deletedAt === undefined ? null : toWireTime(deletedAt),
})

export const toWireAccount = ({ organization, prices }: OrganizationAccount): z.input<typeof accountShape> => ({
  ...toWireOrganization(organization),
  limits: toWireLimits(limitsOf(organization)),
  overrides: Object.fromEntries(Object.entries(toWireLimits(organization.overrides ?? {})).filter(([, value]) => value !== null)),
  flags: { ...organization.flags },
  prices: prices.map(({ axis, unitPriceUrp, effectiveFrom, setAt }) => ({
    axis,
    unit_price_urp: unitPriceUrp,
    effective_from: effectiveFrom,
    set_at: toWireTime(setAt),
  })),
})

export const planBody = z.strictObject({ plan: z.enum(planNames) })
export const paymentStateBody = z.strictObject({ payment_state: z.enum(paymentStates) })

const number = z.int().min(-1).max(numberMax).nullable().optional()
const days = number.refine((value) => value !== 0, 'must be at least 1, or -1 for no limit')
export const overridesBody = z
  .strictObject({
    ...Object.fromEntries(countedLimits.map((limit) => [limitWireName(limit), limit === 'retentionDays' ? days : number])),
    ...Object.fromEntries(includedFeatures.map((limit) => [limitWireName(limit), z.boolean().nullable().optional()])),
  })
  .meta({ description: '-1 is no limit, and null takes an override back; what is left out stays.' })

/** From wire names to ours. */
export function toOverrideChanges(body: Readonly<Record<string, unknown>>): OverrideChanges {
  return Object.fromEntries(limitNames.map((limit) => [limit, body[limitWireName(limit)]]))
}

const flagFields = Object.fromEntries(featureNames.map((flag) => [flag, z.boolean().nullable().optional()]))
export const flagsBody = z.strictObject(flagFields).meta({ description: 'null gives a flag its default again; what is left out stays.' })
export const toFlagChanges = (body: Readonly<Record<string, boolean | null | undefined>>): FlagChanges => body

export const pricesBody = z.strictObject({
  prices: z
    .array(
      z.strictObject({
        axis: z.enum(axisNames),
        unit_price_urp: z.int().min(0).max(unitPriceMax).meta({ description: 'Millionths of a rappen for one unit.' }),
        effective_from: z
          .string()
          .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11')
          .optional()
          .meta({ description: 'The month from which it holds; the present one unless told.' }),
      }),
    )
    .min(1)
    .max(50),
})
export const toNewPrices = ({ prices }: z.output<typeof pricesBody>): NewPrice[] =>
  prices.map(({ axis, unit_price_urp, effective_from }) => ({ axis, unitPriceUrp: unit_price_urp, effectiveFrom: effective_from }))
