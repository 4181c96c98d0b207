/** How invoices are paid: the one place where a provider of payments would be plugged in. */
import type { InvoiceDocument } from '../closing/invoice-document.ts'

/** What asking for payment came to. */
export interface Asked {
  readonly state: 'open' | 'paid'
  /** What the provider calls it; empty for none. */
  readonly reference: string
}

export interface PaymentPort {
  readonly name: string
  /**
   * Asks for payment of a final invoice with a total above 0. The same invoice may come again after a crash, and is asked for once.
   * Rejects when that cannot be done now; it is tried again.
   */
  ask(invoice: InvoiceDocument): Promise<Asked>
  /** Expects no payment of this invoice any more, as it was voided. Again changes nothing; an invoice that was never asked for is none. */
  withdraw(invoice: InvoiceDocument): Promise<void>
}
