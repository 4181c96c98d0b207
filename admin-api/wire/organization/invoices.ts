/** Final invoices and credit notes on the wire, with their payment state. */
import * as z from 'zod'
import { invoiceLanguages } from '#config/plans/line-texts.ts'
import { documentTypes } from '#core/billing/closing/invoice-document.ts'
import type { ClosedMonth } from '#core/billing/closing/closing.ts'
import type { RegisteredInvoice } from '#core/billing/closing/invoice-register.ts'
import type { BillingProfile } from '#core/billing/billing-profile.ts'
import { invoiceStates, markedStates } from '#core/billing/payment/payment.ts'
import { encoder } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'
import { invoiceFields } from './usage.ts'

const { organization_id, period, from, until, plan, currency, net_rappen, vat_basis_points, vat_rappen, total_rappen } = invoiceFields

const summaryFields = {
  id: z.string(),
  type: z.enum(documentTypes),
  number: z.string().meta({ description: 'Consecutive by type and year of issue, without gaps: `2026-000042`, `CN-2026-000007`.' }),
  organization_id,
  organization_name: z.string(),
  period,
  from,
  until,
  plan,
  issued_at: wireTime,
  due_at: wireTime.nullable().meta({ description: 'null for a credit note.' }),
  state: z.enum(invoiceStates).nullable().meta({
    description: '`settled`: nothing is owed. `void`: a credit note cancels the invoice. null for a credit note.',
  }),
  voids: z.string().nullable().meta({ description: 'For a credit note: the id of the canceled invoice.' }),
  reason: z.string().nullable().meta({ description: 'For a credit note: the reason.' }),
  currency,
  net_rappen: net_rappen.meta({ description: 'The sum of the lines. Amounts of a credit note are negative.' }),
  vat_basis_points,
  vat_rappen,
  total_rappen,
}

/** Flattens a document to the names on the wire. */
const flat = ({ document, payment }: RegisteredInvoice) => {
  const { month, voids, reason, ...rest } = document
  const remarks = (payment?.remarks ?? []).map(({ at, state, remark }) => ({ at, state, remark }))
  const state = payment?.state ?? null
  return {
    ...rest,
    period: month,
    voids: voids ?? null,
    reason: reason ?? null,
    state,
    remarks,
    paymentReference: payment?.reference ?? '',
  }
}
type Flat = ReturnType<typeof flat>

export const invoiceSummary = encoder(z.object(summaryFields).meta({ id: 'InvoiceSummary' }))
  .from<Flat>()
  .via(flat)

export const finalInvoice = encoder(
  z
    .object({
      ...summaryFields,
      issuer: z.array(z.string()),
      recipient: z.array(z.string()),
      vat_number: z.string().meta({ description: 'VAT number of the recipient.' }),
      reference: z.string(),
      lines: invoiceFields.lines,
      payment_reference: z.string(),
      remarks: z.array(z.object({ at: wireTime, state: z.enum(invoiceStates), remark: z.string() })).meta({
        description: 'Remarks of the operator on the payment, oldest first.',
      }),
    })
    .meta({ id: 'Invoice' }),
)
  .from<Flat>()
  .via(flat)

export type WireFinalInvoice = ReturnType<typeof finalInvoice.encode>

export const finalFormat = z.enum(['json', 'csv', 'html']).optional().meta({ description: 'Defaults to json; `html` is a page to print.' })

export const pageLanguage = z.enum(invoiceLanguages).optional().meta({
  description: 'Language of the printable page. Defaults to the first supported language of the browser, or else English.',
})

export const closeChoice = z.strictObject({
  period: z.string().max(7).meta({ description: 'A past month in UTC, such as 2026-10.' }),
})

export const closedMonth = encoder(
  z
    .object({
      period: z.string(),
      closed: z.int().meta({ description: 'Number of invoices created by this request.' }),
      already: z.int().meta({ description: 'Number of invoices that existed already.' }),
      none: z
        .int()
        .meta({ description: 'Number of organizations without an invoice: they did not exist in that month, or are anonymous.' }),
      is_complete: z.boolean().meta({ description: 'false if the time limit was reached; repeat the request to continue.' }),
    })
    .meta({ id: 'ClosedMonth' }),
).from<ClosedMonth>({ period: ({ month }) => month })

export const markChoice = z.strictObject({ id, state: z.enum(markedStates), remark: line(500).optional() })
export const voidChoice = z.strictObject({
  id,
  reason: line(500),
  reopen: z.boolean().optional().meta({ description: 'Allows closing the month again, which creates a new invoice. Defaults to false.' }),
})

const addressLine = line(100)
const profileFields = {
  recipient: z
    .array(addressLine)
    .max(8)
    .meta({ description: 'Name and address, line by line; if empty, the name of the organization is used.' }),
  vat_number: line(50),
  reference: line(100).meta({ description: 'Reference requested by the customer, such as an order number.' }),
  vat_basis_points: z
    .int()
    .min(0)
    .max(10_000)
    .nullable()
    .meta({ description: 'Hundredths of a percent; null means the rate of the service.' }),
}
export const billingProfile = encoder(z.object(profileFields).meta({ id: 'BillingProfile' })).from<BillingProfile>()
export const profileChoice = z
  .strictObject({
    id,
    recipient: profileFields.recipient.optional(),
    vat_number: profileFields.vat_number.optional(),
    reference: profileFields.reference.optional(),
    vat_basis_points: profileFields.vat_basis_points.optional(),
  })
  .meta({ description: 'Omitted fields keep their values. Final invoices do not change.' })
