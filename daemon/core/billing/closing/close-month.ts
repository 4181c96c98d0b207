/**
 * Closes a month of an organization: one write stores the final invoice, its number and its payment record. A closed month does not change,
 * so an interrupted run can be repeated without duplicates.
 */
import { Change, encode } from '#store/change.ts'
import { pack } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { organizations, type Organization } from '../../tenancy/organization.ts'
import { billingProfiles, noProfile } from '../billing-profile.ts'
import type { Invoices } from '../invoice.ts'
import { invoicePayments } from '../payment/payment.ts'
import { closedKey, invoiceDocuments, invoicePartition, type InvoiceDocument } from './invoice-document.ts'
import { takeNumber } from './number.ts'

export interface ClosingOptions extends Core {
  readonly invoices: Invoices
  /** The issuer's name, address and VAT number, line by line. */
  readonly issuer: readonly string[]
  /** Days until an invoice is due. */
  readonly paymentDays: number
}

/** `none`: no invoice, because the organization did not exist in that month or is anonymous. */
export type Closed = 'closed' | 'already' | 'none'

const dayMs = 86_400_000
/** Maximum number of attempts of a write that conflicts with other number assignments. */
const maxTries = 20

/** Throws `conflict` if other invoices repeatedly took numbers concurrently; the month is then not closed. */
export async function closeMonth(options: ClosingOptions, organizationId: string, month: string): Promise<Closed> {
  const { database } = options
  for (let tries = 0; tries < maxTries; tries++) {
    const row = await database.kv.get(pack(closedKey(organizationId, month)))
    if (row) return 'already'
    const change = new Change()
    const document = await finalInvoice(options, change, organizationId, month)
    if (!document) return 'none'
    change.setNew(closedKey(organizationId, month), encode(document.id))
    change.insert(invoiceDocuments, invoicePartition, document)
    change.insert(invoicePayments, invoicePartition, newPayment(document))
    if ((await database.commit(change)).ok) return 'closed'
  }
  throw new Refusal('conflict', 'Other invoices took their numbers at the same time; close the month again.')
}

/** Returns the payment record. An invoice with total 0 needs no payment and is settled. */
const newPayment = ({ id, organizationId, totalRappen, issuedAt }: InvoiceDocument) => ({
  ...{ id, organizationId, reference: '', remarks: [] },
  ...(totalRappen > 0 ? { state: 'open' as const, askedAt: null } : { state: 'settled' as const, askedAt: issuedAt }),
})

async function finalInvoice(
  { database, clock, invoices, issuer, paymentDays }: ClosingOptions,
  change: Change,
  organizationId: string,
  month: string,
): Promise<InvoiceDocument | undefined> {
  const stored = await database.get(organizations, { organizationId }, organizationId)
  if (!stored) return undefined
  const { period, ...invoice } = await invoices.preview(organizationId, month)
  if (invoice.plan === 'anonymous' || !isWithin(stored.record, period)) return undefined
  const profile = (await database.get(billingProfiles, { organizationId }, organizationId))?.record ?? noProfile(organizationId)
  const now = clock.now()
  const { name } = stored.record
  return {
    ...{ id: database.newId('inv', now), type: 'invoice', number: await takeNumber(database, change, 'invoice', now) },
    ...{ organizationName: name, issuer, recipient: profile.recipient.length > 0 ? profile.recipient : [name] },
    ...{ vatNumber: profile.vatNumber, reference: profile.reference },
    ...{ month: period.month, from: period.from, until: period.until, issuedAt: now, dueAt: now + paymentDays * dayMs },
    ...invoice,
  }
}

const isWithin = ({ createdAt, deletedAt }: Organization, { from, until }: { readonly from: number; readonly until: number }): boolean =>
  createdAt < until && (deletedAt ?? Infinity) >= from
