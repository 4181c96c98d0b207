/** What an organization used, and what it would be billed. Spec "Limits". */
import * as z from 'zod'
import type { Scope } from '#core/access/scope.ts'
import { Refusal } from '#core/refusals.ts'
import { raw } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import {
  invoiceCsv,
  invoiceCsvHeader,
  invoiceFormat,
  invoiceShape,
  period,
  toWireInvoice,
  toWireUsage,
  usageShape,
  type WireInvoice,
} from '../wire/usage.ts'
import type { RestCore } from './core.ts'
import { attachmentHeaders } from './download.ts'

const tags = ['usage']

export const billingOperations = (core: RestCore): readonly Operation[] => [
  operation({
    method: 'GET',
    path: '/v1/usage',
    operationId: 'readUsage',
    summary: 'Read what the organization used in a month, and how much of its limits is used now',
    description: 'For keys of the whole organization.',
    tags,
    right: 'api:read',
    query: z.strictObject({ period }),
    response: usageShape,
    handle: async ({ scope, query }) => toWireUsage(await core.usage.of(wholeOrganization(scope), query.period)),
  }),
  operation({
    method: 'GET',
    path: '/v1/billing/invoice-preview',
    operationId: 'previewInvoice',
    summary: 'See the invoice of a month as it would be now',
    description:
      'For keys of the whole organization. Amounts are whole rappen; every line is rounded by itself, and the net is the sum of the lines. ' +
      'With format=csv the answer is a file of text/csv whose last rows are net, VAT and total.',
    tags,
    right: 'api:read',
    query: z.strictObject({ period, format: invoiceFormat }),
    response: invoiceShape,
    async handle({ scope, query }) {
      const invoice = toWireInvoice(await core.invoices.preview(wholeOrganization(scope), query.period))
      return query.format === 'csv' ? csvFile(invoice) : invoice
    },
  }),
]

/** An invoice as a file. */
export const csvFile = (invoice: WireInvoice) =>
  raw(invoiceCsvHeader() + invoiceCsv(invoice), {
    contentType: 'text/csv; charset=utf-8',
    headers: attachmentHeaders(`invoice-preview-${invoice.period}.csv`),
  })

/** Billing is the organization's (spec "Project rules" 7), and so out of reach of keys of one project. */
function wholeOrganization({ bound, organizationId }: Scope): string {
  if (!bound) return organizationId
  throw new Refusal('insufficient_scope', 'Usage and billing are of the whole organization; this key is bound to one project.')
}
