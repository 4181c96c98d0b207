/** The operator's operations on every organization. They exist only where an operator key is set, and take no other key. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import { graceDays } from '#core/tenancy/removal-key.ts'
import { periodOf } from '#core/billing/period.ts'
import { media, raw } from '../answer.ts'
import { operation, type Operation } from '../operation.ts'
import { csvFile } from '../rest/billing.ts'
import type { RestCore } from '../rest/core.ts'
import { attachmentHeaders } from '../rest/download.ts'
import {
  accountShape,
  flagsBody,
  organizationShape,
  overridesBody,
  paymentStateBody,
  planBody,
  pricesBody,
  toFlagChanges,
  toNewPrices,
  toOverrideChanges,
  toWireAccount,
  toWireOrganization,
} from '../wire/operator.ts'
import { pageOf, pagingFields } from '../wire/paging.ts'
import { idParams } from '../wire/text.ts'
import { invoice, invoiceFormat, period, usage } from '../wire/usage.ts'
import { operatorLoginOperations, type FailedLogins } from './logins.ts'
import { exportedInvoices } from './invoice-export.ts'

const shared = { tags: ['operator'], right: 'operator' } as const
const one = { ...shared, params: idParams, errors: ['not_found'] } as const
const change = { ...one, method: 'PUT', errors: ['not_found', 'conflict'], response: accountShape } as const

/** The table that the HTTP side serves under `/operator/v1`. */
export const operatorOperations = (core: RestCore, logins: FailedLogins = { list: () => [] }): readonly Operation[] => [
  ...reading(core),
  ...setting(core),
  ...invoicing(core),
  ...operatorLoginOperations(logins),
]

const reading = (core: RestCore): readonly Operation[] => [
  operation({
    ...shared,
    method: 'GET',
    path: '/operator/v1/organizations',
    operationId: 'operatorListOrganizations',
    summary: 'List all organizations, the oldest first',
    query: z.strictObject({ limit: pagingFields.limit, cursor: pagingFields.cursor }),
    response: pageOf(organizationShape),
    async handle({ query }) {
      const { rows, nextCursor } = await core.operator.list(query)
      return { data: rows.map(toWireOrganization), next_cursor: nextCursor ?? null }
    },
  }),
  operation({
    ...one,
    method: 'GET',
    path: '/operator/v1/organizations/{id}',
    operationId: 'operatorReadOrganization',
    summary: 'Read an organization with its limits, flags and prices',
    response: accountShape,
    handle: async ({ params }) => toWireAccount(await core.operator.get(params.id)),
  }),
  operation({
    ...one,
    method: 'GET',
    path: '/operator/v1/organizations/{id}/usage',
    operationId: 'operatorReadUsage',
    summary: 'Read what an organization used in a month',
    query: z.strictObject({ period }),
    response: usage.schema,
    handle: async ({ params, query }) => usage.encode(await core.usage.of(params.id, query.period)),
  }),
]

const setting = (core: RestCore): readonly Operation[] => [
  operation({
    ...change,
    path: '/operator/v1/organizations/{id}/plan',
    operationId: 'operatorSetPlan',
    summary: 'Put an organization on a plan',
    description: 'What it has already is kept. A month is billed on the plan with the largest fee that was in force in it.',
    body: planBody,
    handle: async ({ params, body }) => toWireAccount(await core.operator.setPlan(params.id, body.plan)),
  }),
  operation({
    ...change,
    path: '/operator/v1/organizations/{id}/overrides',
    operationId: 'operatorSetOverrides',
    summary: 'Agree on limits with one organization',
    body: overridesBody,
    handle: async ({ params, body }) => toWireAccount(await core.operator.setOverrides(params.id, toOverrideChanges(body))),
  }),
  operation({
    ...change,
    path: '/operator/v1/organizations/{id}/flags',
    operationId: 'operatorSetFlags',
    summary: 'Switch features on and off for one organization',
    body: flagsBody,
    handle: async ({ params, body }) => toWireAccount(await core.operator.setFlags(params.id, toFlagChanges(body))),
  }),
  operation({
    ...change,
    path: '/operator/v1/organizations/{id}/prices',
    operationId: 'operatorSetPrices',
    summary: 'Set prices of one organization',
    description: 'A price holds for whole months, from its month on. Months that are over keep theirs.',
    body: pricesBody,
    handle: async ({ params, body }) => toWireAccount(await core.operator.setPrices(params.id, toNewPrices(body))),
  }),
  operation({
    ...change,
    path: '/operator/v1/organizations/{id}/payment-state',
    operationId: 'operatorSetPaymentState',
    summary: 'Say whether the bill of an organization is answered for',
    body: paymentStateBody,
    handle: async ({ params, body }) => toWireAccount(await core.operator.setPaymentState(params.id, body.payment_state)),
  }),
  operation({
    ...change,
    method: 'POST',
    path: '/operator/v1/organizations/{id}/restore',
    operationId: 'operatorRestoreOrganization',
    summary: 'Bring a deleted organization back',
    description: `For ${graceDays} days after its deletion; mail that came due meanwhile has failed.`,
    async handle({ params }) {
      await core.restoreOrganization(params.id)
      return toWireAccount(await core.operator.get(params.id))
    },
  }),
]

const invoicing = (core: RestCore): readonly Operation[] => [
  operation({
    ...one,
    method: 'GET',
    path: '/operator/v1/organizations/{id}/invoice-preview',
    operationId: 'operatorPreviewInvoice',
    summary: 'See the invoice of an organization as it would be now',
    query: z.strictObject({ period, format: invoiceFormat }),
    response: invoice.schema,
    async handle({ params, query }) {
      const preview = invoice.encode(await core.invoices.preview(params.id, query.period))
      return query.format === 'csv' ? csvFile(preview) : preview
    },
  }),
  operation({
    ...shared,
    method: 'GET',
    path: '/operator/v1/invoices/export',
    operationId: 'operatorExportInvoices',
    summary: 'Export the invoices of a month of all organizations, as they would be now',
    description: 'CSV, or with format=json an object with all of them under `data`.',
    query: z.strictObject({ period, format: z.enum(['csv', 'json']).optional().meta({ description: 'csv unless told.' }) }),
    response: media('text/csv'),
    handle({ query }) {
      const format = query.format ?? 'csv'
      const { month } = periodOf(query.period, core.clock.now())
      return raw(Readable.from(exportedInvoices(core, month, format)), {
        contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
        headers: attachmentHeaders(`invoices-${month}.${format}`),
      })
    },
  }),
]
