/** Preview of the invoice of a month, in whole rappen. Spec "Limits" 4. */
import { axisNames, billableAxes, type Axis } from '#config/plans/prices.ts'
import type { PlanName } from '#config/plans/plans.ts'
import type { Database } from '#store/database.ts'
import { limitsOf, type LimitSettings } from '../plan/limits.ts'
import { Refusal } from '../refusals.ts'
import { organizations } from '../tenancy/organization.ts'
import type { Period } from './period.ts'
import { billedTerm, planTerms } from './plan-term.ts'
import { priceIn, prices } from './price.ts'
import { billingProfiles } from './billing-profile.ts'
import { feeLines } from './fee-lines.ts'
import { invoiceLine, totals, type InvoiceLine, type Totals } from './invoice-line.ts'
import { explain } from './explained/use-by-day.ts'
import type { Usage } from './usage-report.ts'

export interface Invoice extends Totals {
  readonly organizationId: string
  readonly period: Period
  /** The plan that bills the use of the month: the plan with the largest fee in the month. */
  readonly plan: PlanName
  readonly currency: 'CHF'
  readonly lines: readonly InvoiceLine[]
}

/**
 * Returns the included quantity of an axis. An agreed limit of null includes everything. Plan enterprise has no default limits and includes
 * nothing, because it has separate prices.
 */
function includedIn(axis: Axis, settings: LimitSettings, quantity: number): number {
  if (axis !== 'smtp_credentials' && axis !== 'traces_stored') return 0
  const limit = limitsOf(settings)[axis === 'traces_stored' ? 'tracesStored' : 'smtpCredentials']
  return limit ?? (settings.plan === 'enterprise' ? 0 : quantity)
}

export interface InvoicesOptions {
  readonly database: Database
  readonly usage: Usage
  /** VAT rate of organizations without a separate rate. */
  readonly vatBasisPoints: number
}

export class Invoices {
  readonly #options: InvoicesOptions

  constructor(options: InvoicesOptions) {
    this.#options = options
  }

  /** Returns the invoice of a month such as `2026-11`, by default the present month. Throws like `Usage.of`. */
  async preview(organizationId: string, month: string | undefined): Promise<Invoice> {
    const { database, usage } = this.#options
    const reach = { organizationId }
    const { period, axes } = await usage.of(organizationId, month)
    const stored = await database.get(organizations, reach, organizationId)
    if (!stored) throw new Refusal('not_found', 'No organization has this id.')
    const [planned, own, profile] = await Promise.all([
      database.all(planTerms, reach),
      database.all(prices, reach),
      database.get(billingProfiles, reach, organizationId),
    ])
    const terms = planned.map(({ record }) => record)
    const term = billedTerm(stored.record, terms, period)
    const ownPrices = own.map(({ record }) => record)
    const used = await Promise.all(
      axisNames.map(async (axis) => ({
        axis,
        ...{
          quantity: axes[axis],
          included: includedIn(axis, term, axes[axis]),
          unitPriceUrp: priceIn(period.month, axis, term.plan, ownPrices),
        },
        ...(axes[axis] > 0 && { explained: await explain(database, stored.record, { terms, period, axis, quantity: axes[axis] }) }),
      })),
    )
    const lines = [
      ...feeLines(stored.record, terms, period),
      ...used.map(({ axis, ...quantities }) => invoiceLine(axis, billableAxes[axis].label, quantities)),
    ]
    const vatBasisPoints = profile?.record.vatBasisPoints ?? this.#options.vatBasisPoints
    return { organizationId, period, plan: term.plan, currency: 'CHF', lines, ...totals(lines, vatBasisPoints) }
  }
}
