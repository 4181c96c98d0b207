/** The unpaid invoice of an organization with an overdue payment. */
import type { Database } from '#store/database.ts'
import { invoiceDocuments, invoicePartition } from '../../billing/closing/invoice-document.ts'
import { invoicePayments } from '../../billing/payment/payment.ts'

/** Reads at most this number of invoices, newest first. */
const maxInvoices = 24

/** Returns the month of the oldest open invoice whose payment is due, such as `2026-11`; undefined without one. */
export async function readOverdueMonth(database: Database, organizationId: string, now: number): Promise<string | undefined> {
  const reach = { organizationId: invoicePartition }
  const options = { index: 'organization', values: [organizationId], limit: maxInvoices, forWork: true } as const
  const { rows } = await database.list(invoiceDocuments, reach, options)
  const due = rows.map(({ record }) => record).filter(({ type, dueAt }) => type === 'invoice' && dueAt !== null && dueAt <= now)
  const payments = await database.getMany(
    invoicePayments,
    reach,
    due.map(({ id }) => id),
  )
  return due.filter((_, at) => payments[at]?.record.state === 'open').at(-1)?.month
}
