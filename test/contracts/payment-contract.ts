/** What every way of payment must do; a provider's port runs it against the provider's sandbox. */
import type { TestFn } from 'ava'
import type { InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import type { PaymentPort } from '#core/billing/payment/payment-port.ts'

export interface PaymentSubject {
  readonly port: PaymentPort
  /** How often its customers were asked to pay this invoice, as they see it. */
  readonly asked: (invoice: InvoiceDocument) => Promise<number>
}

export function paymentContract(test: TestFn, name: string, open: () => Promise<PaymentSubject>): void {
  test(`${name} asks once for an invoice, however often it is told to`, async (t) => {
    const { port, asked } = await open()
    const invoice = invoiceOf('inv_1', '2026-000001')
    const first = await port.ask(invoice)
    t.deepEqual(await Promise.all([port.ask(invoice), port.ask(invoice)]), [first, first])
    t.is(await asked(invoice), 1)
  })

  test(`${name} tells invoices apart`, async (t) => {
    const { port } = await open()
    const references = await Promise.all(['000001', '000002'].map((n) => port.ask(invoiceOf(`inv_${n}`, `2026-${n}`))))
    t.is(new Set(references.map(({ reference }) => reference)).size, 2)
  })

  test(`${name} withdraws what was asked for, what was not, and what is withdrawn`, async (t) => {
    const { port } = await open()
    const [invoice, never] = [invoiceOf('inv_1', '2026-000001'), invoiceOf('inv_2', '2026-000002')]
    await port.ask(invoice)
    for (const one of [invoice, invoice, never]) await t.notThrowsAsync(port.withdraw(one))
  })
}

const invoiceOf = (id: string, number: string): InvoiceDocument => ({
  ...{ id, type: 'invoice', number, organizationId: 'org_1', organizationName: 'Shop', issuer: [], recipient: ['Shop'] },
  ...{ vatNumber: '', reference: '', month: '2026-10', from: 0, until: 1, plan: 'basic', issuedAt: 1, dueAt: 2, currency: 'CHF' },
  ...{ lines: [], netRappen: 1000, vatBasisPoints: 810, vatRappen: 81, totalRappen: 1081 },
})
