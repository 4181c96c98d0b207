/** Payment without a provider: customers pay as the invoice says, and the operator notes what came in. */
import type { PaymentPort } from './payment-port.ts'

export const manualPayment: PaymentPort = {
  name: 'manual',
  ask: async ({ number }) => ({ state: 'open', reference: number }),
  withdraw: async () => undefined,
}
