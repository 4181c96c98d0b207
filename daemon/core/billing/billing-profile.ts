/** Record of an organization's invoice recipient, and of its VAT rate if it differs from that of the service. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** Id of the organization. */
  id: z.string(),
  /** Lines of name and address. If empty, invoices use the name of the organization. */
  recipient: z.array(z.string()),
  /** VAT number, such as `CHE-123.456.788 MWST`; empty if unknown. */
  vatNumber: z.string(),
  /** Customer's reference on invoices, such as an order number; optional. */
  reference: z.string(),
  /** VAT rate in hundredths of a percent; null uses the rate of the service. */
  vatBasisPoints: z.int().min(0).max(10_000).nullable(),
})

export type BillingProfile = Immutable<z.infer<typeof schema>>

export const billingProfiles = defineRecord<BillingProfile>({ name: 'billing_profile', schema })

export const noProfile = (organizationId: string): BillingProfile => ({
  ...{ id: organizationId, recipient: [], vatNumber: '', reference: '', vatBasisPoints: null },
})
