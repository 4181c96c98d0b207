/** A final invoice in the form that was asked for. */
import type { RegisteredInvoice } from '#core/billing/closing/invoice-register.ts'
import { finalInvoice } from '../../wire/organization/invoices.ts'
import { finalInvoiceFile } from '../download.ts'
import { invoicePage } from './invoice-page.ts'

export function shownInvoice(registered: RegisteredInvoice, format: 'json' | 'csv' | 'html' | undefined) {
  const invoice = finalInvoice.encode(registered)
  if (format === 'csv') return finalInvoiceFile(invoice)
  return format === 'html' ? invoicePage(invoice) : invoice
}
