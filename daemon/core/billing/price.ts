/** Prices of an organization's own, with their history. */
import { axisNames, billableAxes, type Axis } from '#config/plans/prices.ts'
import type { PlanName } from '#config/plans/plans.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  id: z.string(),
  axis: z.enum(axisNames),
  /** Millionths of a rappen for one unit. */
  unitPriceUrp: z.int().min(0),
  /** `2026-11`. */
  effectiveFrom: z.string(),
  setAt: z.int(),
  /** Counts up with every price of the organization. */
  number: z.int(),
})

/** A price from a month on. A later record of the same month takes its place. */
export type Price = Immutable<z.infer<typeof schema>>

export const prices = defineRecord<Price>({
  name: 'price',
  schema,
})

/** The price of one unit in a month. Plan enterprise is by contract: it has prices of its own or none. */
export function priceIn(month: string, axis: Axis, plan: PlanName, own: readonly Price[]): number {
  const inForce = own
    .filter((price) => price.axis === axis && price.effectiveFrom <= month)
    .toSorted((a, b) => compare(a.effectiveFrom, b.effectiveFrom) || a.number - b.number)
    .at(-1)
  return inForce?.unitPriceUrp ?? (plan === 'enterprise' ? 0 : billableAxes[axis].unitPriceUrp)
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
