/** Prices of an organization's own, with their history. */
import { axisNames, billableAxes, type Axis } from '#config/prices.ts'
import type { PlanName } from '#config/plans.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

/** A price from a month on. A later record of the same month takes its place. */
export interface Price {
  readonly id: string
  readonly axis: Axis
  /** Millionths of a rappen for one unit. */
  readonly unitPriceUrp: number
  /** `2026-11`. */
  readonly effectiveFrom: string
  readonly setAt: number
  /** Counts up with every price of the organization. */
  readonly number: number
}

export const prices = defineRecord<Price>({
  name: 'price',
  schema: z.strictObject({
    id: z.string(),
    axis: z.enum(axisNames),
    unitPriceUrp: z.int().min(0),
    effectiveFrom: z.string(),
    setAt: z.int(),
    number: z.int(),
  }),
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
