/**
 * Periodic work of billing, which one daemon does in the background. It grants and expires credits, closes past months and requests payment
 * of invoices.
 */
import type { Core } from '../core.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { TimedRounds } from '../work-loop.ts'
import type { Closing } from './closing/closing.ts'
import type { InvoiceRegister } from './closing/invoice-register.ts'
import type { Credits } from './credits/credits.ts'

export interface BillingUpkeepOptions extends Core {
  readonly credits: Credits
  readonly closing: Closing
  readonly register: InvoiceRegister
  readonly onError: (error: unknown) => void
}

const everyMs = 3_600_000

/** Returns the work, which runs a round at the start and every hour. */
export const billingUpkeep = (options: BillingUpkeepOptions): TimedRounds =>
  new TimedRounds({ ...options, everyMs, round: (stopping) => round(options, stopping) })

async function round({ database, credits, closing, register }: BillingUpkeepOptions, stopping: () => boolean): Promise<void> {
  for await (const { id } of allOrganizations(database)) {
    if (stopping()) return
    await credits.refresh(id)
  }
  await closing.closeDue(stopping)
  await register.askForPayment(stopping)
}
