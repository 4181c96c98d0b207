/** Behavior of every payment method. A provider's port runs it with the provider's sandbox. */
import type { ExecutionContext, TestFn } from 'ava'
import type { InvoiceDocument } from '#core/billing/closing/invoice-document.ts'
import type { PaymentPort } from '#core/billing/payment/payment-port.ts'

export interface PaymentSubject {
  /** The port of another daemon, or of the same one after a restart, without memory of earlier calls. */
  readonly port: () => PaymentPort
  /** Number of payments that the customer is currently asked for: 1 or 0. */
  readonly expected: (invoice: InvoiceDocument) => Promise<number>
  /** Pays as a customer; undefined if the port does not see payments. */
  readonly pay?: (invoice: InvoiceDocument) => Promise<void>
  /** Makes calls fail from now on, before or after their effect; undefined if calls cannot fail. */
  readonly fail?: (how: 'before' | 'after', isFailing: boolean) => void
}

export function paymentContract(test: TestFn, name: string, open: (t: ExecutionContext) => Promise<PaymentSubject>): void {
  const invoice = invoiceOf('inv_1', '2026-000001')

  test(`${name} requests payment of an invoice once, regardless of repeated calls and restarts`, async (t) => {
    const { port, expected } = await open(t)
    const first = await port().ask(invoice)
    t.is(first.state, 'open')
    t.deepEqual(await Promise.all([port().ask(invoice), port().ask(invoice), port().ask(invoice)]), [first, first, first])
    t.is(await expected(invoice), 1)
  })

  test(`${name}: a withdrawal ends the payment request of one invoice only`, async (t) => {
    const { port, expected } = await open(t)
    const invoices = ['000001', '000002', '000003'].map((n) => invoiceOf(`inv_${n}`, `2026-${n}`))
    const asked = await Promise.all(invoices.map((one) => port().ask(one)))
    t.is(new Set(asked.map(({ reference }) => reference)).size, 3)
    await port().withdraw(invoices[1] ?? invoice)
    t.deepEqual(await Promise.all(invoices.map(expected)), [1, 0, 1])
  })

  test(`${name}: withdraws in any state; the last call takes effect`, async (t) => {
    const { port, expected } = await open(t)
    const never = invoiceOf('inv_2', '2026-000002')
    const { reference } = await port().ask(invoice)
    for (const one of [invoice, invoice, never]) await t.notThrowsAsync(port().withdraw(one))
    t.deepEqual([await expected(invoice), await expected(never)], [0, 0])
    t.deepEqual(await port().ask(invoice), { state: 'open', reference }, 'it is owed again, under the same reference')
    t.is(await expected(invoice), 1)
    await Promise.all([port().withdraw(invoice), port().withdraw(invoice)])
    t.is(await expected(invoice), 0)
  })

  test(`${name} knows paid invoices: no new request, and they stay paid`, async (t) => {
    const { port, expected, pay } = await open(t)
    const { reference } = await port().ask(invoice)
    if (!pay) return void t.pass('payments are not seen by this way')
    await pay(invoice)
    t.deepEqual(await port().ask(invoice), { state: 'paid', reference })
    await port().withdraw(invoice)
    t.deepEqual(await port().ask(invoice), { state: 'paid', reference })
    t.is(await expected(invoice), 0)
  })

  test(`${name} reports a failed call, and a repeated call takes effect once`, async (t) => {
    const { port, expected, fail } = await open(t)
    if (!fail) return void t.pass('nothing can fail')
    for (const how of ['before', 'after'] as const) {
      const one = invoiceOf(`inv_${how}`, `2026-${how}`)
      for (const [act, count] of [
        ['ask', 1],
        ['withdraw', 0],
      ] as const) {
        fail(how, true)
        await t.throwsAsync(port()[act](one))
        fail(how, false)
        await port()[act](one)
        t.is(await expected(one), count, `${act} that failed ${how}`)
      }
    }
  })
}

const invoiceOf = (id: string, number: string): InvoiceDocument => ({
  ...{ id, type: 'invoice', number, organizationId: 'org_1', organizationName: 'Shop', issuer: [], recipient: ['Shop'] },
  ...{ vatNumber: '', reference: '', month: '2026-10', from: 0, until: 1, plan: 'basic', issuedAt: 1, dueAt: 2, currency: 'CHF' },
  ...{ lines: [], netRappen: 1000, vatBasisPoints: 810, vatRappen: 81, totalRappen: 1081 },
})
