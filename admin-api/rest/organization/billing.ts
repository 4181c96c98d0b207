/** Usage, credits and invoices of an organization. Spec "Limits". */
import * as z from 'zod'
import { requireReach } from '#core/access/principal/organization-acts.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { action, type Action } from '../../actions/action.ts'
import { operation, type Operation } from '../../operation/operation.ts'
import { finalFormat, finalInvoice, invoiceSummary, pageLanguage } from '../../wire/organization/invoices.ts'
import { shownInvoice } from '../../http/invoices/shown-invoice.ts'
import { idParams, noInput } from '../../wire/fields/text.ts'
import { invoice, invoiceFormat, period, usage } from '../../wire/organization/usage.ts'
import type { RestCore } from '../rest-core.ts'
import { creditEntry, creditState } from '../../wire/organization/credits.ts'
import { pageEncoder, pageFields } from '../../wire/fields/paging.ts'
import { invoiceFile } from '../../http/download.ts'

const tags = ['usage']

const usageEntries: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  action({
    id: 'getUsage',
    summary: 'Get the usage of a month and the current use of the limits',
    description: 'Requires a key of the whole organization.',
    tags,
    scope: 'api:read',
    openToBilling: true,
    input: z.strictObject({ period }),
    output: usage,
    http: { method: 'GET', path: '/v1/usage' },
    run: ({ core, principal }, asked) => core.usage.of(wholeOrganization(principal), asked.period),
  }),
  // an operation rather than an action, since it can return a file
  operation({
    method: 'GET',
    path: '/v1/billing/invoice-preview',
    operationId: 'previewInvoice',
    summary: 'Preview the invoice of a month',
    description:
      'Requires a key of the whole organization. Amounts are whole rappen; each line is rounded individually, and the net amount is the sum of the lines. ' +
      'With `format=csv`, the response is a CSV file: below each line the days and projects of its quantity, and in the last rows net, VAT and total.',
    tags,
    scope: 'api:read',
    openToBilling: true,
    query: z.strictObject({ period, format: invoiceFormat }),
    response: invoice.schema,
    async handle({ core, principal, query }) {
      const preview = invoice.encode(await core.invoices.preview(wholeOrganization(principal), query.period))
      return query.format === 'csv' ? invoiceFile(preview) : preview
    },
  }),
]

const creditActions: readonly Action<RestCore>[] = [
  action({
    id: 'getCredits',
    summary: 'Get the credits of the organization',
    description: 'Requires a key of the whole organization. Credits pay only for managed websites.',
    tags,
    scope: 'api:read',
    openToBilling: true,
    input: noInput,
    output: creditState,
    http: { method: 'GET', path: '/v1/billing/credits' },
    run: ({ core, principal }) => core.billing.credits.of(wholeOrganization(principal)),
  }),
  action({
    id: 'listCreditEntries',
    summary: 'List credit changes, newest first',
    description: 'Requires a key of the whole organization. The balance is the sum of all entries.',
    tags,
    scope: 'api:read',
    openToBilling: true,
    input: z.strictObject(pageFields),
    output: pageEncoder(creditEntry),
    list: { item: creditEntry },
    http: { method: 'GET', path: '/v1/billing/credits/entries' },
    run: ({ core, principal }, page) => core.billing.credits.entries(wholeOrganization(principal), page),
  }),
]

const invoiceEntries: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  action({
    id: 'listInvoices',
    summary: 'List the invoices and credit notes of the organization, newest first',
    description: 'Requires a key of the whole organization. Each month is closed some hours after its end (UTC).',
    tags,
    scope: 'api:read',
    openToBilling: true,
    input: z.strictObject(pageFields),
    output: pageEncoder(invoiceSummary),
    list: { item: invoiceSummary },
    http: { method: 'GET', path: '/v1/billing/invoices' },
    run: ({ core, principal }, page) => core.billing.register.list(wholeOrganization(principal), page),
  }),
  // an operation rather than an action, since it can return a file
  operation({
    method: 'GET',
    path: '/v1/billing/invoices/{id}',
    operationId: 'getInvoice',
    summary: 'Get an invoice or credit note',
    description: 'Requires a key of the whole organization. A final document never changes, except for its payment state.',
    tags,
    scope: 'api:read',
    openToBilling: true,
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ format: finalFormat, lang: pageLanguage }),
    response: finalInvoice.schema,
    handle: async ({ core, principal, params, query, headers }) =>
      shownInvoice(await core.billing.register.get(wholeOrganization(principal), params.id), query, headers),
  }),
]

export const billingEntries: readonly (Action<RestCore> | Operation<RestCore>)[] = [...usageEntries, ...creditActions, ...invoiceEntries]

/**
 * Returns the id of the organization. Throws `insufficient_scope` for keys of one project, since billing belongs to the organization. Spec
 * "Project rules" 7.
 */
function wholeOrganization(principal: Principal): string {
  requireReach(principal, 'billing.read')
  return principal.organizationId
}
