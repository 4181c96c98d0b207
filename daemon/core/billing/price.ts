/** Records of an organization's separate prices, with their history. */
import { axisNames, billableAxes, type Axis } from '#config/plans/prices.ts'
import type { PlanName } from '#config/plans/plans.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  axis: z.enum(axisNames),
  /** Millionths of a rappen for one unit. */
  unitPriceUrp: z.int().min(0),
  /** First month of the price, such as `2026-11`. */
  effectiveFrom: z.string(),
  setAt: z.int(),
  /** Increases with every price of the organization. */
  number: z.int(),
})

/** A price from a month on. A later record for the same month replaces it. */
export type Price = Immutable<z.infer<typeof schema>>

export const prices = defineRecord<Price>({
  name: 'price',
  schema,
})

/** Returns the price of one unit in a month. Plan enterprise is by contract: without a separate price it costs 0. */
export function priceIn(month: string, axis: Axis, plan: PlanName, own: readonly Price[]): number {
  const inForce = own
    .filter((price) => price.axis === axis && price.effectiveFrom <= month)
    .toSorted((a, b) => compare(a.effectiveFrom, b.effectiveFrom) || a.number - b.number)
    .at(-1)
  return inForce?.unitPriceUrp ?? (plan === 'enterprise' ? 0 : billableAxes[axis].unitPriceUrp)
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
