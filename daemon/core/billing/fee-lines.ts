/** Monthly fees of plans. If the plan changes within a month, each day is billed on the plan with the largest fee that day. Pure. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { lineLabel } from '#config/plans/line-texts.ts'
import type { PlanName } from '#config/plans/plans.ts'
import type { Organization } from '../tenancy/organization.ts'
import { limitsOf } from '../plan/limits.ts'
import { invoiceLine, type InvoiceLine } from './invoice-line.ts'
import type { Period } from './period.ts'
import { dearestTerm, termsWithin, type PlanTerm } from './plan-term.ts'

const dayMs = 86_400_000

/** Excludes days before the creation and after the deletion of the organization. */
export function feeLines(organization: Organization, terms: readonly PlanTerm[], period: Period): InvoiceLine[] {
  const parts = new Map<string, { readonly plan: PlanName; readonly feeRappen: number; readonly days: string[] }>()
  for (const [i, day] of period.days.entries()) {
    const from = period.from + i * dayMs
    if (organization.createdAt >= from + dayMs || (organization.deletedAt ?? Infinity) < from) continue
    const term = dearestTerm(organization, termsWithin(organization, terms, from, from + dayMs))
    const feeRappen = limitsOf(term).monthlyFeeRappen ?? 0 // a fee by contract is billed elsewhere
    const key = `${term.plan} ${feeRappen}`
    const part = parts.get(key) ?? { plan: term.plan, feeRappen, days: [] }
    part.days.push(day)
    parts.set(key, part)
  }
  return [...parts.values()].map(({ plan, feeRappen, days }) => {
    const unitPriceUrp = feeRappen * 1_000_000
    const all = period.days.length
    const per = days.length === all ? 1 : all
    const quantity = per === 1 ? 1 : days.length
    const label = lineLabel(catalogIn('invoice-lines', 'en'), { axis: 'monthly_fee', label: '', plan, quantity, per })
    const line = { ...invoiceLine('monthly_fee', label, { quantity, included: 0, unitPriceUrp, per }), plan }
    if (per === 1) return line
    return {
      ...line,
      days: days.map((day) => ({ day, quantity: 1 })),
    }
  })
}
