/** The invoice of a month as it would be now. Whole rappen throughout. Spec "Limits" 4. */
import { axisNames, billableAxes, type Axis } from '#config/plans/prices.ts'
import type { PlanName } from '#config/plans/plans.ts'
import type { Database } from '#store/database.ts'
import { limitsOf, type LimitSettings } from '../plan/limits.ts'
import { Refusal } from '../refusals.ts'
import { organizations } from '../tenancy/organization.ts'
import type { Period } from './period.ts'
import { billedTerm, planTerms } from './plan-term.ts'
import { priceIn, prices } from './price.ts'
import type { Usage } from './usage-report.ts'

export interface InvoiceLine {
  readonly axis: Axis | 'monthly_fee'
  readonly label: string
  /** What was used. */
  readonly quantity: number
  /** How much of it the plan includes. */
  readonly included: number
  /** What is billed: `quantity` beyond `included`. */
  readonly billable: number
  /** Millionths of a rappen. */
  readonly unitPriceUrp: number
  /** `billable` times the unit price, rounded half up to whole rappen. */
  readonly amountRappen: number
}

export interface Invoice {
  readonly organizationId: string
  readonly period: Period
  /** The plan that the month is billed on. */
  readonly plan: PlanName
  readonly currency: 'CHF'
  readonly lines: readonly InvoiceLine[]
  /** The sum of the lines. */
  readonly netRappen: number
  /** Hundredths of a percent. */
  readonly vatBasisPoints: number
  /** Of the net, rounded half up to whole rappen. */
  readonly vatRappen: number
  readonly totalRappen: number
}

/** Rounds half up. Numbers are not negative. */
const dividedBy = (product: bigint, divisor: bigint): number => Number((2n * product + divisor) / (2n * divisor))

/** A line from its quantity. */
export function invoiceLine(
  axis: InvoiceLine['axis'],
  label: string,
  { quantity, included, unitPriceUrp }: Pick<InvoiceLine, 'quantity' | 'included' | 'unitPriceUrp'>,
): InvoiceLine {
  const billable = Math.max(0, quantity - included)
  const amountRappen = dividedBy(BigInt(billable) * BigInt(unitPriceUrp), 1_000_000n)
  return { axis, label, quantity, included, billable, unitPriceUrp, amountRappen }
}

/** Net, VAT and total of lines. */
export function totals(
  lines: readonly InvoiceLine[],
  vatBasisPoints: number,
): Pick<Invoice, 'netRappen' | 'vatBasisPoints' | 'vatRappen' | 'totalRappen'> {
  const netRappen = lines.reduce((sum, { amountRappen }) => sum + amountRappen, 0)
  const vatRappen = dividedBy(BigInt(netRappen) * BigInt(vatBasisPoints), 10_000n)
  return { netRappen, vatBasisPoints, vatRappen, totalRappen: netRappen + vatRappen }
}

/** What the plan includes of an axis without further charge. */
function includedIn(axis: Axis, settings: LimitSettings): number {
  const { smtpCredentials = 0, tracesStored = 0 } = limitsOf(settings)
  if (axis === 'smtp_credentials') return smtpCredentials
  return axis === 'traces_stored' ? tracesStored : 0
}

export class Invoices {
  readonly #options: { readonly database: Database; readonly usage: Usage; readonly vatBasisPoints: number }

  constructor(options: { readonly database: Database; readonly usage: Usage; readonly vatBasisPoints: number }) {
    this.#options = options
  }

  /** Of a month such as `2026-11`, the present one by default. Throws as `Usage.of` does. */
  async preview(organizationId: string, month: string | undefined): Promise<Invoice> {
    const { database, usage, vatBasisPoints } = this.#options
    const { period, axes } = await usage.of(organizationId, month)
    const stored = await database.get(organizations, { organizationId }, organizationId)
    if (!stored) throw new Refusal('not_found', 'No organization has this id.')
    const [terms, own] = await Promise.all([database.all(planTerms, { organizationId }), database.all(prices, { organizationId })])
    const term = billedTerm(
      stored.record,
      terms.map(({ record }) => record),
      period,
    )
    const ownPrices = own.map(({ record }) => record)
    const fee = (limitsOf(term).monthlyFeeRappen ?? 0) * 1_000_000
    const lines = [
      invoiceLine('monthly_fee', `Plan ${term.plan}`, { quantity: 1, included: 0, unitPriceUrp: fee }),
      ...axisNames.map((axis) =>
        invoiceLine(axis, billableAxes[axis].label, {
          quantity: axes[axis],
          included: includedIn(axis, term),
          unitPriceUrp: priceIn(period.month, axis, term.plan, ownPrices),
        }),
      ),
    ]
    return { organizationId, period, plan: term.plan, currency: 'CHF', lines, ...totals(lines, vatBasisPoints) }
  }
}
