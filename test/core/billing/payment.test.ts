import test from 'ava'
import { manualPayment } from '#core/billing/payment/manual.ts'
import { paymentContract } from '../../contracts/payment-contract.ts'

// customers pay as the invoice says, which they have once
paymentContract(test, 'manual payment', async () => ({ port: manualPayment, asked: async () => 1 }))
