/** Operations of the operator on final invoices and billing profiles. */
import * as z from 'zod'
import { action, type Action } from '../actions/action.ts'
import { shownInvoice } from '../http/invoices/shown-invoice.ts'
import { operation, type Operation } from '../operation/operation.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { pageEncoder, pageFields } from '../wire/fields/paging.ts'
import { idParams } from '../wire/fields/text.ts'
import {
  billingProfile,
  closeChoice,
  closedMonth,
  finalFormat,
  finalInvoice,
  invoiceSummary,
  markChoice,
  pageLanguage,
  profileChoice,
  voidChoice,
} from '../wire/organization/invoices.ts'
import { periodOf } from '#core/billing/period.ts'
import { period } from '../wire/organization/usage.ts'

const root = '/operator/v1/invoices'
const profilePath = '/operator/v1/organizations/{id}/billing-profile'
const shared = { tags: ['operator'], scope: 'operator' } as const

const reading: readonly (Action<RestCore> | Operation<RestCore>)[] = [
  action({
    ...shared,
    id: 'operatorListInvoices',
    summary: 'List the invoices and credit notes of a month',
    description: 'Includes all organizations: credit notes first, then invoices, each in order of their numbers.',
    input: z.strictObject({ period, ...pageFields }),
    output: pageEncoder(invoiceSummary),
    list: { item: invoiceSummary },
    http: { method: 'GET', path: root },
    run: ({ core }, { period: month, ...page }) => core.billing.register.ofMonth(periodOf(month, core.clock.now()).month, page),
  }),
  operation({
    ...shared,
    method: 'GET',
    path: `${root}/{id}`,
    operationId: 'operatorGetInvoice',
    summary: 'Get an invoice or credit note of any organization',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ format: finalFormat, lang: pageLanguage }),
    response: finalInvoice.schema,
    handle: async ({ core, params, query, headers }) => shownInvoice(await core.billing.register.get(undefined, params.id), query, headers),
  }),
]

const deciding: readonly Action<RestCore>[] = [
  action({
    ...shared,
    id: 'operatorCloseMonth',
    summary: 'Close a month',
    description:
      'Makes the invoice of every organization final. Closed invoices do not change. The service closes a month automatically six hours after its end, for months that ended after its first start.',
    input: closeChoice,
    output: closedMonth,
    http: { method: 'POST', path: `${root}/close` },
    run: ({ core }, { period: month }) => core.billing.closing.close(month),
  }),
  action({
    ...shared,
    id: 'operatorMarkInvoice',
    summary: 'Set the payment state of an invoice',
    errors: ['not_found', 'conflict'],
    input: markChoice,
    output: finalInvoice,
    http: { method: 'PUT', path: `${root}/{id}/payment` },
    run: ({ core, client }, { id, state, remark }) => core.billing.register.mark(id, state, remark ?? '', client.operatorId),
  }),
  action({
    ...shared,
    id: 'operatorVoidInvoice',
    summary: 'Void an invoice with a credit note',
    description: 'Returns the credit note. The invoice does not change, except for its state `void`.',
    errors: ['not_found', 'conflict'],
    input: voidChoice,
    output: finalInvoice,
    http: { method: 'POST', path: `${root}/{id}/void`, status: 201 },
    run: ({ core, client }, { id, reason, reopen }) => core.billing.register.void(id, reason, reopen ?? false, client.operatorId),
  }),
]

const profiling: readonly Action<RestCore>[] = [
  action({
    ...shared,
    id: 'operatorGetBillingProfile',
    summary: 'Get the billing profile of an organization',
    errors: ['not_found'],
    input: idParams,
    output: billingProfile,
    http: { method: 'GET', path: profilePath },
    run: ({ core }, { id }) => core.billing.profiles.of(id),
  }),
  action({
    ...shared,
    id: 'operatorSetBillingProfile',
    summary: 'Set the billing profile of an organization',
    errors: ['not_found', 'conflict'],
    input: profileChoice,
    output: billingProfile,
    http: { method: 'PUT', path: profilePath },
    run: ({ core, client }, { id, ...changes }) => core.billing.profiles.change(id, changes, client.operatorId),
  }),
]

export const operatorInvoiceActions: readonly (Action<RestCore> | Operation<RestCore>)[] = [...reading, ...deciding, ...profiling]
