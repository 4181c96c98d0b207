/**
 * Records of final invoices, and of credit notes that void them. They have a separate partition, because they outlive the organizations
 * that they bill.
 */
import { planNames } from '#config/plans/plans.ts'
import { axisNames } from '#config/plans/prices.ts'
import { defineRecord, globalKey, type Immutable } from '#store/record-kind.ts'
import type { Element } from '#store/tuple.ts'
import * as z from 'zod'

export const invoicePartition = 'invoices'

export const documentTypes = ['invoice', 'credit_note'] as const
export type DocumentType = (typeof documentTypes)[number]

const amount = z.int()

const lineSchema = z.strictObject({
  axis: z.enum([...axisNames, 'monthly_fee']),
  label: z.string(),
  plan: z.enum(planNames).optional(),
  quantity: z.int(),
  included: z.int(),
  billable: z.int(),
  unitPriceUrp: z.int(),
  per: z.int(),
  amountRappen: amount,
  days: z.array(z.strictObject({ day: z.string(), quantity: z.int() })),
  projects: z.array(z.strictObject({ projectId: z.string().nullable(), name: z.string(), quantity: z.int() })),
})

const schema = z.strictObject({
  id: z.string(),
  type: z.enum(documentTypes),
  /** `2026-000042`, or `CN-2026-000007` for credit notes; numbered by type and year of issue, without gaps. */
  number: z.string(),
  organizationId: z.string(),
  /** Name of the organization at the time of issue. */
  organizationName: z.string(),
  /** Lines of name and address. */
  issuer: z.array(z.string()),
  recipient: z.array(z.string()),
  vatNumber: z.string(),
  reference: z.string(),
  /** The month, such as `2026-11`, with its bounds in milliseconds. */
  month: z.string(),
  from: z.int(),
  until: z.int(),
  plan: z.enum(planNames),
  issuedAt: z.int(),
  /** Null for a credit note. */
  dueAt: z.int().nullable(),
  currency: z.literal('CHF'),
  /** Amounts of a credit note are negative. */
  lines: z.array(lineSchema),
  netRappen: amount,
  vatBasisPoints: z.int(),
  vatRappen: amount,
  totalRappen: amount,
  /** Id of the invoice that a credit note voids. */
  voids: z.string().optional(),
  /** Reason for voiding it. */
  reason: z.string().optional(),
})

/** Immutable after creation. */
export type InvoiceDocument = Immutable<z.infer<typeof schema>>

export const invoiceDocuments = defineRecord<InvoiceDocument>({
  name: 'invoice',
  schema,
  indexes: {
    organization: ({ organizationId, issuedAt, number }) => [[organizationId, issuedAt, number]],
    month: ({ month, type, number }) => [[month, type, number]],
  },
  unique: { number: ({ number }) => [[number]], voids: ({ voids }) => (voids === undefined ? [] : [[voids]]) },
})

/** Row of the last number of a type in a year. The write that creates a document also updates it, so that numbers have no gaps. */
export const numberKey = (type: DocumentType, year: number): readonly Element[] => globalKey('invoice.number', type, year)

/** Row with the id of the invoice of an organization's month; the month is closed while the row exists. */
export const closedKey = (organizationId: string, month: string): readonly Element[] => globalKey('invoice.closed', organizationId, month)

/** Row that marks a month as closed for all organizations, so that the service does not check it again. */
export const closedMonthKey = (month: string): readonly Element[] => globalKey('invoice.month', month)

/** Row of the first month that the service closes automatically. */
export const sinceKey = globalKey('invoice.since')

export const numberOf = (type: DocumentType, year: number, sequence: number): string =>
  `${type === 'credit_note' ? 'CN-' : ''}${year}-${String(sequence).padStart(6, '0')}`
