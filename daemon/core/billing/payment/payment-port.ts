/** How invoices are paid: the one place where a provider of payments would be plugged in. */
import type { InvoiceDocument } from '../closing/invoice-document.ts'

/** What asking for payment came to. */
export interface Asked {
  readonly state: 'open' | 'paid'
  /** What the provider calls it; empty for none. */
  readonly reference: string
}

/**
 * Every method may be called again for the same invoice, at the same time too: after a crash nothing says whether the call before was
 * made. What counts is the last one that is carried out. What is not carried out within five minutes of its call must never be: a call
 * ends or rejects by then, also with a provider that queues requests.
 */
export interface PaymentPort {
  readonly name: string
  /**
   * Asks for payment of a final invoice with a total above 0: from then on its customer is asked once, however often this is called, also
   * where the invoice was withdrawn before. Answers `paid` for one that is. Rejects when that cannot be done now; it is tried again.
   */
  ask(invoice: InvoiceDocument): Promise<Asked>
  /** Expects no payment of this invoice any more. One that was never asked for, or is paid, stays as it is. Rejects as `ask` does. */
  withdraw(invoice: InvoiceDocument): Promise<void>
}
