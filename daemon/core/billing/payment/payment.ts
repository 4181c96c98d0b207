/** How far an invoice is paid, and who said so when. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** `settled`: nothing is owed, as the total is 0. `uncollectible`: it is not expected any more. `void`: a credit note takes it back. */
export const invoiceStates = ['open', 'paid', 'settled', 'uncollectible', 'void'] as const
export type InvoiceState = (typeof invoiceStates)[number]

/** Those that somebody can put an invoice into by hand. */
export const markedStates = ['open', 'paid', 'uncollectible'] as const satisfies readonly InvoiceState[]
export type MarkedState = (typeof markedStates)[number]

const callSchema = z.strictObject({
  id: z.string(),
  tells: z.enum(['ask', 'withdraw']),
  /** From then on it is not carried out any more, whatever became of who made it. */
  until: z.int(),
})

/** A call to the way of payment whose end is not noted. */
export type PaymentCall = Immutable<z.infer<typeof callSchema>>

const schema = z.strictObject({
  /** That of the invoice. */
  id: z.string(),
  organizationId: z.string(),
  state: z.enum(invoiceStates),
  /** When the way of payment was told of the state; null while that is still to be done. */
  askedAt: z.int().nullable(),
  /** Those that may be under way. */
  calls: z.array(callSchema).optional(),
  /** What the way of payment calls it; empty for none. */
  reference: z.string(),
  /** What was said of it, the latest last. */
  remarks: z.array(
    z.strictObject({
      at: z.int(),
      /** A user who acts for the operator; empty for the operator's key and the service itself. */
      by: z.string(),
      state: z.enum(invoiceStates),
      remark: z.string(),
    }),
  ),
})

export type InvoicePayment = Immutable<z.infer<typeof schema>>

/** In the partition of the invoices. */
export const invoicePayments = defineRecord<InvoicePayment>({
  name: 'invoice_payment',
  schema,
  indexes: { unasked: ({ askedAt, id }) => (askedAt === null ? [[id]] : []) },
})
