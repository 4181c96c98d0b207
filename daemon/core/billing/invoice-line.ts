/** Invoice lines and their sums in whole rappen. Pure. */
import type { PlanName } from '#config/plans/plans.ts'
import type { Axis } from '#config/plans/prices.ts'
import type { Explained } from './explained/use-by-day.ts'

export interface InvoiceLine extends Explained {
  readonly axis: Axis | 'monthly_fee'
  readonly label: string
  /** Plan of a fee. */
  readonly plan?: PlanName | undefined
  /** Used quantity. */
  readonly quantity: number
  /** Quantity that the plan includes. */
  readonly included: number
  /** Billed quantity: `quantity` above `included`. */
  readonly billable: number
  /** Price in millionths of a rappen for `per` units. */
  readonly unitPriceUrp: number
  /** 1; for a fee by the day, the number of days in the month. */
  readonly per: number
  /** `billable` times the unit price, divided by `per`, rounded half up to whole rappen. */
  readonly amountRappen: number
}

export interface Totals {
  /** Sum of the lines. */
  readonly netRappen: number
  /** Hundredths of a percent. */
  readonly vatBasisPoints: number
  /** VAT on the net amount, rounded half up to whole rappen. */
  readonly vatRappen: number
  readonly totalRappen: number
}

/** Rounds half up. Both numbers must not be negative. */
const dividedBy = (product: bigint, divisor: bigint): number => exact(Number((2n * product + divisor) / (2n * divisor)))

/** Throws for an amount that a number cannot represent exactly; no real invoice has one. */
function exact(rappen: number): number {
  if (Number.isSafeInteger(rappen)) return rappen
  throw new RangeError('the amount is too large for exact rappen; check the prices of the organization')
}

/** Returns a line with its billable quantity and amount. */
export function invoiceLine(
  axis: InvoiceLine['axis'],
  label: string,
  {
    quantity,
    included,
    unitPriceUrp,
    per = 1,
    explained = { days: [], projects: [] },
  }: Pick<InvoiceLine, 'quantity' | 'included' | 'unitPriceUrp'> & { readonly per?: number; readonly explained?: Explained },
): InvoiceLine {
  const billable = Math.max(0, quantity - included)
  const amountRappen = dividedBy(BigInt(billable) * BigInt(unitPriceUrp), 1_000_000n * BigInt(per))
  const { days, projects } = explained
  return { axis, label, quantity, included, billable, unitPriceUrp, per, amountRappen, days, projects }
}

/** Returns net, VAT and total of the lines. */
export function totals(lines: readonly Pick<InvoiceLine, 'amountRappen'>[], vatBasisPoints: number): Totals {
  const netRappen = exact(lines.reduce((sum, { amountRappen }) => sum + amountRappen, 0))
  const vatRappen = dividedBy(BigInt(netRappen) * BigInt(vatBasisPoints), 10_000n)
  return { netRappen, vatBasisPoints, vatRappen, totalRappen: netRappen + vatRappen }
}
