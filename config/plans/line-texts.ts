/** Names of invoice lines in the languages of the dashboard. Browsers and the service load these texts. */
import type { ConfigCatalogs } from '../catalogs/config-catalogs.ts'
import type { PlanName } from './plans.ts'
import type { Axis } from './prices.ts'

export const invoiceLanguages = ['en', 'de', 'fr', 'it'] as const
export type InvoiceLanguage = (typeof invoiceLanguages)[number]

export type LineTexts = ConfigCatalogs['invoice-lines']

export interface NamedLine {
  readonly axis: Axis | 'monthly_fee'
  /** The text at the time of the invoice. */
  readonly label: string
  /** Plan of a fee; null if an older invoice does not contain it. */
  readonly plan: PlanName | null
  readonly quantity: number
  readonly per: number
}

export function lineLabel({ fee, feeByDay, axes }: LineTexts, { axis, label, plan, quantity, per }: NamedLine): string {
  if (axis !== 'monthly_fee') return axes[axis]
  if (plan === null) return label
  return per > 1 ? feeByDay({ plan, days: quantity, of: per }) : fee({ plan })
}
