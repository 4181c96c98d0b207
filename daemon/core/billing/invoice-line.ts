/** Lines of invoices and their sums, in whole rappen. Pure. */
import type { PlanName } from '#config/plans/plans.ts'
import type { Axis } from '#config/plans/prices.ts'
import type { Explained } from './explained/use-by-day.ts'

export interface InvoiceLine extends Explained {
  readonly axis: Axis | 'monthly_fee'
  readonly label: string
  /** Of a fee, its plan. */
  readonly plan?: PlanName | undefined
  /** What was used. */
  readonly quantity: number
  /** How much of it the plan includes. */
  readonly included: number
  /** What is billed: `quantity` beyond `included`. */
  readonly billable: number
  /** Millionths of a rappen for so many of the quantity as `per` says. */
  readonly unitPriceUrp: number
  /** 1, and for a fee by the day the days of the month. */
  readonly per: number
  /** `billable` times the unit price, divided by `per`, rounded half up to whole rappen. */
  readonly amountRappen: number
}

export interface Totals {
  /** The sum of the lines. */
  readonly netRappen: number
  /** Hundredths of a percent. */
  readonly vatBasisPoints: number
  /** Of the net, rounded half up to whole rappen. */
  readonly vatRappen: number
  readonly totalRappen: number
}

/** Rounds half up. Numbers are not negative. */
const dividedBy = (product: bigint, divisor: bigint): number => exact(Number((2n * product + divisor) / (2n * divisor)))

/** Throws for an amount that a number does not hold to the rappen; no invoice has one. */
function exact(rappen: number): number {
  if (Number.isSafeInteger(rappen)) return rappen
  throw new RangeError('an amount is beyond what is counted to the rappen; look at the prices of the organization')
}

/** A line from its quantity. */
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

/** Net, VAT and total of lines. */
export function totals(lines: readonly Pick<InvoiceLine, 'amountRappen'>[], vatBasisPoints: number): Totals {
  const netRappen = exact(lines.reduce((sum, { amountRappen }) => sum + amountRappen, 0))
  const vatRappen = dividedBy(BigInt(netRappen) * BigInt(vatBasisPoints), 10_000n)
  return { netRappen, vatBasisPoints, vatRappen, totalRappen: netRappen + vatRappen }
}
