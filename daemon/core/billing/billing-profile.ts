/** Whom an organization's invoices are made out to, and the VAT on them, where that is not the service's. */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

const schema = z.strictObject({
  /** That of the organization. */
  id: z.string(),
  /** Name and address, line by line; the name of the organization where there is none. */
  recipient: z.array(z.string()),
  /** Such as `CHE-123.456.788 MWST`; empty for none. */
  vatNumber: z.string(),
  /** What the customer wants named on invoices, such as an order number; empty for none. */
  reference: z.string(),
  /** Hundredths of a percent; null is the rate of the service. */
  vatBasisPoints: z.int().min(0).max(10_000).nullable(),
})

export type BillingProfile = Immutable<z.infer<typeof schema>>

export const billingProfiles = defineRecord<BillingProfile>({ name: 'billing_profile', schema })

export const noProfile = (organizationId: string): BillingProfile => ({
  ...{ id: organizationId, recipient: [], vatNumber: '', reference: '', vatBasisPoints: null },
})
