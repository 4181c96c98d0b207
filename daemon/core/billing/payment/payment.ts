/** Record of the payment state of an invoice, with its history. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** `settled`: the total is 0. `uncollectible`: payment is no longer expected. `void`: a credit note voids the invoice. */
export const invoiceStates = ['open', 'paid', 'settled', 'uncollectible', 'void'] as const
export type InvoiceState = (typeof invoiceStates)[number]

/** States that the operator can set. */
export const markedStates = ['open', 'paid', 'uncollectible'] as const satisfies readonly InvoiceState[]
export type MarkedState = (typeof markedStates)[number]

const callSchema = z.strictObject({
  id: z.string(),
  tells: z.enum(['ask', 'withdraw']),
  /** After this time, the call is no longer executed, regardless of its caller. */
  until: z.int(),
})

/** A call to the payment port without recorded result. */
export type PaymentCall = Immutable<z.infer<typeof callSchema>>

const schema = z.strictObject({
  /** Id of the invoice. */
  id: z.string(),
  organizationId: z.string(),
  state: z.enum(invoiceStates),
  /** Time when the payment port learned the state; null while it must still be notified. */
  askedAt: z.int().nullable(),
  /** Calls that can still be in flight. */
  calls: z.array(callSchema).optional(),
  /** The provider's reference; empty if there is no reference. */
  reference: z.string(),
  /** History of states and remarks, latest last. */
  remarks: z.array(
    z.strictObject({
      at: z.int(),
      /** Id of the user acting for the operator; empty for the operator's key and the service itself. */
      by: z.string(),
      state: z.enum(invoiceStates),
      remark: z.string(),
    }),
  ),
})

export type InvoicePayment = Immutable<z.infer<typeof schema>>

/** Stored in the partition of the invoices. */
export const invoicePayments = defineRecord<InvoicePayment>({
  name: 'invoice_payment',
  schema,
  indexes: { unasked: ({ askedAt, id }) => (askedAt === null ? [[id]] : []) },
})
