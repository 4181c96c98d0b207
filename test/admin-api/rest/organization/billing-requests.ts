/** An invoice for the operation that takes one, and the requests of billing; see `../fixture/requests.ts`. */
import { closeMonth } from '#core/billing/closing/close-month.ts'
import { invoiceDocuments, invoicePartition } from '#core/billing/closing/invoice-document.ts'
import { monthOf } from '#core/tenancy/counters.ts'
import type { StartedDaemon } from '../../../support/daemon/start-daemon.ts'

/** Closes the present month as if it were over; returns its invoice. */
export async function makeInvoice({ part, organizationId }: StartedDaemon): Promise<{ readonly invoice: string }> {
  const core = part('core')
  const prices = [{ axis: 'captures' as const, unitPriceUrp: 1_000_000 }]
  await part('rest').operator.setPrices(organizationId, prices) // so that an amount is owed
  const options = { ...core, invoices: part('billing').invoices, issuer: [], paymentDays: 30 }
  await closeMonth(options, organizationId, monthOf(core.clock.now()))
  const [made] = await core.database.all(invoiceDocuments, { organizationId: invoicePartition })
  return { invoice: made?.record.id ?? '' }
}

const own = { outsider: 'own', neighbour: 'shared' } as const

export const billingRequests = (made: { readonly invoice: string }) => ({
  ...{ previewInvoice: own, getCredits: own, listCreditEntries: own, listInvoices: own },
  getInvoice: { outsider: 'refused', neighbour: 'shared', params: { id: made.invoice } } as const,
})

/** No key of a tenant may call these operations. */
export const operatorBillingRequests = ({ team, invoice }: { readonly team: string; readonly invoice: string }) => {
  const refused = { outsider: 'refused' } as const
  const [one, ofInvoice] = [
    { ...refused, params: { id: team } },
    { ...refused, params: { id: invoice } },
  ]
  return {
    ...{ operatorListInvoices: refused, operatorGetInvoice: ofInvoice, operatorGetCredits: one, operatorGetBillingProfile: one },
    ...{ operatorListOrganizationInvoices: one, operatorListSites: one },
    operatorGrantCredits: { ...one, body: { credits: '5' } },
    operatorSetBillingProfile: { ...one, body: { reference: 'PO 7' } },
    operatorCloseMonth: { ...refused, body: { period: '2029-12' } },
    operatorMarkInvoice: { ...ofInvoice, body: { state: 'paid' } },
    operatorVoidInvoice: { ...ofInvoice, body: { reason: 'wrong' } },
  }
}
