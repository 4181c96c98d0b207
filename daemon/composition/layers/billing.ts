/** Composes billing: usage, prices and periodic work. */
import { BillingProfiles } from '#core/billing/billing-profiles.ts'
import { billingUpkeep } from '#core/billing/billing-upkeep.ts'
import { Closing } from '#core/billing/closing/closing.ts'
import { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import { Credits } from '#core/billing/credits/credits.ts'
import { Invoices } from '#core/billing/invoice.ts'
import { manualPayment } from '#core/billing/payment/manual.ts'
import { Usage } from '#core/billing/usage-report.ts'
import type { BillingParts } from '../composed.ts'
import { broke, type Add, type Composition } from '../parts.ts'

export const addBilling = (add: Add): void => add('billing', billingParts)

function billingParts(composition: Composition): BillingParts {
  const { get, config } = composition
  const core = get('core')
  const { vatBasisPoints, issuer, paymentDays } = config.billing
  const credits = new Credits(core)
  const invoices = new Invoices({ database: core.database, usage: new Usage(core), vatBasisPoints })
  const register = new InvoiceRegister({ ...core, port: manualPayment })
  const closing = new Closing({ ...core, invoices, register, issuer: issuer ?? [], paymentDays })
  const onError = broke(composition, 'billing')
  const upkeep = billingUpkeep({ ...core, credits, closing, register, onError })
  return { credits, invoices, closing, register, profiles: new BillingProfiles(core), upkeep }
}
