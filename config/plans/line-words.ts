/** What lines of invoices are called, in the languages of the dashboard. Browsers and the service bring the words. */
import type { ConfigCatalogs } from '../catalogs/config-catalogs.ts'
import type { PlanName } from './plans.ts'
import type { Axis } from './prices.ts'

export const invoiceLanguages = ['en', 'de', 'fr', 'it'] as const
export type InvoiceLanguage = (typeof invoiceLanguages)[number]

export type LineWords = ConfigCatalogs['invoice-lines']

export interface NamedLine {
  readonly axis: Axis | 'monthly_fee'
  /** As it was written when the invoice was made. */
  readonly label: string
  /** Of a fee; null where an older invoice does not say it. */
  readonly plan: PlanName | null
  readonly quantity: number
  readonly per: number
}

export function lineLabel({ fee, feeByDay, axes }: LineWords, { axis, label, plan, quantity, per }: NamedLine): string {
  if (axis !== 'monthly_fee') return axes[axis]
  if (plan === null) return label
  return per > 1 ? feeByDay({ plan, days: quantity, of: per }) : fee({ plan })
}
