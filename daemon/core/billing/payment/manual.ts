/** Payment without a provider: customers pay according to the invoice, and the operator records payments. */
import type { PaymentPort } from './payment-port.ts'

export const manualPayment: PaymentPort = {
  name: 'manual',
  ask: async ({ number }) => ({ state: 'open', reference: number }),
  withdraw: async () => undefined,
}
