/** The columns of a list of invoices. */
import type { Column } from '../parts/list.tsx'
import { dateOnly, francs } from '../parts/time.ts'
import type { InvoiceSummary } from '../wire/api.d.ts'
import { texts } from './billing-texts.ts'
import { InvoiceState } from './invoice-state.tsx'

/** `pathOf` returns the URL of an invoice. */
export function invoiceColumns(pathOf: (invoice: InvoiceSummary) => string): readonly Column<InvoiceSummary>[] {
  const w = texts()
  return [
    { head: w.number, class: 'c-outcome strong', cell: (one) => <a href={pathOf(one)}>{one.number}</a> },
    { head: w.month, class: 'c-time', cell: ({ period }) => period },
    { head: w.state, class: 'c-status', cell: (one) => <InvoiceState invoice={one} /> },
    { head: w.plan, class: 'c-time c-spare', cell: ({ plan }) => plan },
    { head: w.issued, class: 'c-status c-spare', cell: ({ issued_at: at }) => dateOnly(at) },
    { head: w.due, class: 'c-status', cell: ({ due_at: at, state }) => (at === null || state === 'settled' ? '–' : dateOnly(at)) },
    { head: w.total, class: 'num', cell: ({ total_rappen: total }) => francs(total) },
  ]
}
