/** Final invoices for their organizations and the operator: lists, payment, and voiding by a credit note. */
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { PageQuery } from '../../access/principal/lists.ts'
import type { Core } from '../../core.ts'
import { Refusal } from '../../refusals.ts'
import { organizations } from '../../tenancy/organization.ts'
import type { AuditedAction } from '../../writes/audit.ts'
import { transact } from '../../writes/transact.ts'
import { invoicePayments, type InvoicePayment, type MarkedState } from '../payment/payment.ts'
import type { PaymentPort } from '../payment/payment-port.ts'
import { tellPayment } from '../payment/tell.ts'
import { closedKey, invoiceDocuments, invoicePartition, type InvoiceDocument } from './invoice-document.ts'
import { takeNumber } from './number.ts'

/** An invoice or credit note; a credit note has no payment record. */
export interface RegisteredInvoice {
  readonly document: InvoiceDocument
  readonly payment: InvoicePayment | undefined
}

export interface InvoiceRegisterOptions extends Core {
  readonly port: PaymentPort
}

const reach = { organizationId: invoicePartition }
/** Maximum number of remarks on an invoice. */
const maxRemarks = 200

export class InvoiceRegister {
  readonly #options: InvoiceRegisterOptions

  constructor(options: InvoiceRegisterOptions) {
    this.#options = options
  }

  /** Lists the invoices of one organization, newest first. Throws `CursorInvalid`. */
  async list(organizationId: string, page: PageQuery): Promise<Page<RegisteredInvoice>> {
    const { rows, nextCursor } = await this.#options.database.list(invoiceDocuments, reach, {
      ...{ index: 'organization', values: [organizationId], limit: page.limit, cursor: page.cursor },
    })
    return { rows: await this.#withPayments(rows.map(({ record }) => record)), nextCursor }
  }

  /** Lists the invoices of all organizations in a month, by type and number. Throws `CursorInvalid`. */
  async ofMonth(month: string, page: PageQuery): Promise<Page<RegisteredInvoice>> {
    const { rows, nextCursor } = await this.#options.database.list(invoiceDocuments, reach, {
      ...{ index: 'month', values: [month], ascending: true, limit: page.limit, cursor: page.cursor },
    })
    return { rows: await this.#withPayments(rows.map(({ record }) => record)), nextCursor }
  }

  /**
   * Returns an invoice of the organization; the operator passes undefined and reads all invoices. Throws the same `not_found` for missing
   * and foreign ids.
   */
  async get(organizationId: string | undefined, id: string): Promise<RegisteredInvoice> {
    const document = (await this.#options.database.get(invoiceDocuments, reach, id))?.record
    if (!document || (organizationId !== undefined && document.organizationId !== organizationId)) throw notFound()
    const [found] = await this.#withPayments([document])
    if (!found) throw notFound()
    return found
  }

  /** Records the operator's information on the payment. Throws `not_found`, and `conflict` for void invoices and invoices with total 0. */
  async mark(id: string, state: MarkedState, remark: string, by?: string): Promise<RegisteredInvoice> {
    const { database } = this.#options
    await transact(database, reach, async (change) => {
      const document = await change.get(invoiceDocuments, id)
      const stored = await change.get(invoicePayments, id)
      if (!document || !stored) throw notFound()
      const before = stored.record
      if (before.state === 'void' || before.state === 'settled')
        throw new Refusal('conflict', before.state === 'void' ? 'This invoice is void.' : 'Nothing is owed for this invoice.')
      const askedAt = before.state === state ? before.askedAt : null
      this.#remark(change, stored, { ...before, state, askedAt }, remark, by)
      const { organizationId, number } = document.record
      const details = { number, state, before: before.state, remark }
      await this.#audit(change, { organizationId, act: 'invoice.marked', target: id, details }, by)
    })
    await this.#tellSoon(id)
    return this.get(undefined, id)
  }

  /**
   * Voids an invoice by a credit note with the same lines and negative amounts, in one write. With `reopens`, its month can be closed
   * again, which creates another invoice. Throws `not_found`, and `conflict` for void invoices and credit notes.
   */
  async void(id: string, reason: string, reopens: boolean, by?: string): Promise<RegisteredInvoice> {
    const { database, clock } = this.#options
    const noteId = database.newId('inv', clock.now())
    await transact(database, reach, async (change) => {
      const stored = await change.get(invoiceDocuments, id)
      const payment = await change.get(invoicePayments, id)
      if (!stored) throw notFound()
      const document = stored.record
      if (document.type !== 'invoice' || !payment) throw new Refusal('conflict', 'A credit note cannot be voided.')
      if (payment.record.state === 'void') throw new Refusal('conflict', 'This invoice is already void.')
      const now = clock.now()
      const number = await takeNumber(database, change, 'credit_note', now)
      change.insert(invoiceDocuments, invoicePartition, creditNote(document, { id: noteId, number, issuedAt: now, reason }))
      const askedAt = payment.record.state === 'settled' ? payment.record.askedAt : null
      this.#remark(change, payment, { ...payment.record, state: 'void', askedAt }, reason, by)
      const { organizationId, month } = document
      if (reopens) change.delete(closedKey(organizationId, month))
      const details = { number: document.number, credit_note: number, reason, reopens }
      await this.#audit(change, { organizationId, act: 'invoice.voided', target: id, details }, by)
    })
    await this.#tellSoon(id)
    return this.get(undefined, noteId)
  }

  /**
   * Synchronizes the payment port with invoices whose state it does not know. Requests payment of new invoices, and withdraws obsolete
   * requests. A failing invoice does not prevent the others; the first error is thrown at the end.
   */
  async askForPayment(stopping: () => boolean): Promise<void> {
    const { database } = this.#options
    let failed: { readonly error: unknown } | undefined
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await database.list(invoicePayments, reach, { index: 'unasked', ascending: true, limit: 50, cursor, forWork: true })
      for (const { record } of page.rows) {
        if (stopping()) return
        await tellPayment(this.#options, record.id).catch((error: unknown) => (failed ??= { error }))
      }
      cursor = page.nextCursor
    }
    if (failed) throw failed.error
  }

  /** Synchronizes now; if it fails, the background work tries again and reports the failure. */
  async #tellSoon(id: string): Promise<void> {
    await tellPayment(this.#options, id).catch(() => undefined)
  }

  #remark(change: Change, stored: Stored<InvoicePayment>, next: InvoicePayment, remark: string, by: string | undefined): void {
    const said = { at: this.#options.clock.now(), by: by ?? '', state: next.state, remark }
    const remarks = [...next.remarks, said].slice(-maxRemarks)
    change.replace(invoicePayments, invoicePartition, stored, { ...next, remarks })
  }

  /** Records the action in the organization's audit log while the organization exists. */
  async #audit(change: Change, act: Omit<AuditedAction, 'actor'>, by: string | undefined): Promise<void> {
    const { organizationId } = act
    if (!(await this.#options.database.get(organizations, { organizationId }, organizationId))) return
    this.#options.audit.record(change, { ...act, actor: { kind: 'operator', id: by ?? '' } })
  }

  async #withPayments(documents: readonly InvoiceDocument[]): Promise<RegisteredInvoice[]> {
    const payments = await this.#options.database.getMany(
      invoicePayments,
      reach,
      documents.map(({ id }) => id),
    )
    return documents.map((document, i) => ({ document, payment: payments[i]?.record }))
  }
}

const notFound = (): Refusal => new Refusal('not_found', 'No invoice has this id.')

function creditNote(
  invoice: InvoiceDocument,
  facts: Pick<InvoiceDocument, 'id' | 'number' | 'issuedAt'> & { readonly reason: string },
): InvoiceDocument {
  const less = (rappen: number): number => 0 - rappen
  return {
    ...invoice,
    ...facts,
    ...{ type: 'credit_note', dueAt: null, voids: invoice.id },
    lines: invoice.lines.map((line) => ({ ...line, amountRappen: less(line.amountRappen) })),
    ...{ netRappen: less(invoice.netRappen), vatRappen: less(invoice.vatRappen), totalRappen: less(invoice.totalRappen) },
  }
}
