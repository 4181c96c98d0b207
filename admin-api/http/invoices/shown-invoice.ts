/** A final invoice in the requested format. */
import type { IncomingHttpHeaders } from 'node:http'
import type { RegisteredInvoice } from '#core/billing/closing/invoice-register.ts'
import { finalInvoice } from '../../wire/organization/invoices.ts'
import { finalInvoiceFile } from '../download.ts'
import { invoicePage } from './invoice-page.ts'
import { pageTexts } from './page-texts.ts'

interface Wish {
  readonly format?: 'json' | 'csv' | 'html' | undefined
  readonly lang?: string | undefined
}

export function shownInvoice(registered: RegisteredInvoice, { format, lang }: Wish, headers: IncomingHttpHeaders) {
  const invoice = finalInvoice.encode(registered)
  if (format === 'csv') return finalInvoiceFile(invoice)
  return format === 'html' ? invoicePage(invoice, pageTexts(lang, headers)) : invoice
}
