/** Interface to a payment provider, the only connection between billing and payment. */
import type { InvoiceDocument } from '../closing/invoice-document.ts'

/** Result of a payment request. */
export interface Asked {
  readonly state: 'open' | 'paid'
  /** The provider's reference; empty if there is no reference. */
  readonly reference: string
}

/**
 * Every method can be called again for the same invoice, also concurrently: after a crash, the outcome of a call is unknown. The last
 * executed call decides. A call must be executed within five minutes or never. It must resolve or reject by then, even if the provider
 * queues requests.
 */
export interface PaymentPort {
  readonly name: string
  /**
   * Requests payment of a final invoice with a total above 0. The customer gets a single request, regardless of the number of calls and
   * earlier withdrawals. Returns `paid` for a paid invoice. Rejects if the request is not possible now; it is repeated later.
   */
  ask(invoice: InvoiceDocument): Promise<Asked>
  /** Withdraws the payment request of this invoice. Has no effect on invoices that are paid or were never requested. Rejects like `ask`. */
  withdraw(invoice: InvoiceDocument): Promise<void>
}
