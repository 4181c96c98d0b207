/** Operations of the operator on all organizations. They exist only if an operator key is set, and accept no other key. */
import { siteHealth } from '#core/health/resources.ts'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { graceDays } from '#core/tenancy/removal-key.ts'
import { periodOf } from '#core/billing/period.ts'
import { action, type Action } from '../actions/action.ts'
import { operationsOf } from '../actions/http.ts'
import { resource } from '../actions/resource.ts'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { Organization } from '#core/tenancy/organization.ts'
import type { RestCore } from '../rest/rest-core.ts'
import { attachmentHeaders, invoiceFile } from '../http/download.ts'
import {
  account,
  flagChoices,
  limitChoices,
  organization,
  paymentStateChoice,
  planChoice,
  priceChoices,
  toFlagChanges,
  toOverrideChanges,
} from '../wire/organization/operator.ts'
import { auditEntry, auditFilter } from '../wire/organization/audit-entry.ts'
import { creditGrant, creditsGiven, creditState, toCreditsGiven } from '../wire/organization/credits.ts'
import { idParams, line } from '../wire/fields/text.ts'
import { invoiceSummary } from '../wire/organization/invoices.ts'
import { invoice, invoiceFormat, period, usage } from '../wire/organization/usage.ts'
import { site } from '../wire/sites/site.ts'
import { operatorLoginActions, type FailedLogins } from './logins.ts'
import { operatorQueueActions } from './operator-queue.ts'
import { operatorSiteActions } from './operator-sites.ts'
import { systemActions, type SystemSource } from './system.ts'
import { doctorActions, type DoctorSource } from './operator-doctor.ts'
import { operatorInvoiceActions } from './operator-invoices.ts'
import { exportedInvoices, exportedPreviews } from './invoice-export.ts'

const all = '/operator/v1/organizations'
const one = `${all}/{id}`
const shared = { tags: ['operator'], scope: 'operator' } as const
const organizations = resource(all, { name: 'Organization', ...shared })
const sets = { ...shared, errors: ['not_found', 'conflict'], output: account } as const
const put = (part: string) => ({ ...sets, http: { method: 'PUT', path: `${one}/${part}` } }) as const

/** The core of the REST API with parts of the process that only the operator sees. */
export interface OperatorCore extends RestCore {
  readonly logins: FailedLogins
  readonly system: SystemSource
  readonly doctor: DoctorSource
}

const reading: readonly Action<RestCore>[] = [
  organizations.list({
    id: 'operatorListOrganizations',
    summary: 'List all organizations, oldest first',
    errors: [],
    filter: { q: line(128, 'Part of the name or id. Case-insensitive.').optional() },
    item: organization,
    run: ({ core }, page) => core.operator.list(page),
  }),
  organizations.read({
    id: 'operatorGetOrganization',
    summary: 'Get an organization with its limits, flags and prices',
    output: account,
    run: ({ core }, { id }) => core.operator.get(id),
  }),
  organizations.readOf('usage', {
    id: 'operatorGetUsage',
    summary: 'Get the usage of an organization in a month',
    input: z.strictObject({ period }),
    output: usage,
    run: ({ core }, asked) => core.usage.of(asked.id, asked.period),
  }),
  organizations.listOf('invoices', {
    id: 'operatorListOrganizationInvoices',
    summary: 'List the invoices and credit notes of an organization, newest first',
    description: 'They remain available after the organization is deleted.',
    item: invoiceSummary,
    run: ({ core }, { id, ...page }) => core.billing.register.list(id, page),
  }),
  organizations.listOf('sites', {
    id: 'operatorListSites',
    summary: 'List the websites of an organization, newest first',
    item: site,
    async run({ core }, { id, ...page }) {
      const { organization: owner } = await core.operator.get(id)
      const reader = readerOf(owner)
      return core.health.page(reader, siteHealth, await core.sites.sites.list(reader, { ...page, projectId: undefined }))
    },
  }),
  organizations.listOf('audit', {
    id: 'operatorListAuditEntries',
    summary: 'List the audit log entries of an organization, newest first',
    description: 'Includes acts of the operator. A page can contain fewer entries than `limit`, or no entries, and still have a next page.',
    filter: auditFilter,
    item: auditEntry,
    async run({ core }, { id, ...page }) {
      const { organization: owner } = await core.operator.get(id)
      return core.auditLog.list(readerOf(owner), { ...page, projectId: undefined })
    },
  }),
]

/** Returns a principal that reads the data of the whole organization. */
const readerOf = ({ id, defaultProjectId }: Organization): Principal => ({
  ...{ organizationId: id, projectId: defaultProjectId, bound: false },
  ...{ scopes: ['api:read'], credentialId: '' },
})

const setting: readonly Action<RestCore>[] = [
  action({
    ...put('plan'),
    id: 'operatorSetPlan',
    summary: 'Set the plan of an organization',
    description:
      'Existing resources are kept. If the plan changes within a month, fees are billed by the day, and usage is billed on the plan with the largest fee.',
    input: planChoice,
    run: ({ core, client }, { id, plan }) => core.operator.setPlan(id, plan, client.operatorId),
  }),
  action({
    ...put('overrides'),
    id: 'operatorSetOverrides',
    summary: 'Override the limits of an organization',
    input: limitChoices,
    run: ({ core, client }, { id, ...limits }) => core.operator.setOverrides(id, toOverrideChanges(limits), client.operatorId),
  }),
  action({
    ...put('flags'),
    id: 'operatorSetFlags',
    summary: 'Set the feature flags of an organization',
    input: flagChoices,
    run: ({ core, client }, { id, ...flags }) => core.operator.setFlags(id, toFlagChanges(flags), client.operatorId),
  }),
  action({
    ...put('prices'),
    id: 'operatorSetPrices',
    summary: 'Set the prices of an organization',
    description: 'A price applies to whole months, starting with its month. Past months keep their prices.',
    input: priceChoices,
    run: ({ core, client }, { id, prices }) => core.operator.setPrices(id, prices, client.operatorId),
  }),
  action({
    ...put('payment-state'),
    id: 'operatorSetPaymentState',
    summary: 'Set the payment state of an organization',
    input: paymentStateChoice,
    run: ({ core, client }, { id, paymentState }) => core.operator.setPaymentState(id, paymentState, client.operatorId),
  }),
  action({
    ...sets,
    id: 'operatorRestoreOrganization',
    summary: 'Restore a deleted organization',
    description: `Possible for ${graceDays} days after its deletion. Mail that became due in the meantime has failed.`,
    input: idParams,
    http: { method: 'POST', path: `${one}/restore` },
    async run({ core }, { id }) {
      await core.restoreOrganization(id)
      return core.operator.get(id)
    },
  }),
]

const crediting: readonly Action<RestCore>[] = [
  organizations.readOf('credits', {
    id: 'operatorGetCredits',
    summary: 'Get the credits of an organization',
    output: creditState,
    run: ({ core }, { id }) => core.billing.credits.of(id),
  }),
  action({
    ...{ ...sets, output: creditGrant },
    id: 'operatorGrantCredits',
    summary: 'Grant credits to an organization',
    description:
      'As a gift, or as `purchased` if they were paid for. Websites paused for lack of credits are served again within ten seconds.',
    input: creditsGiven,
    http: { method: 'POST', path: `${one}/credits`, status: 201 },
    run: ({ core, client }, { id, ...given }) => core.billing.credits.give(id, toCreditsGiven(given), client.operatorId),
  }),
]

/** Operations rather than actions, since responses can be files. */
const invoicing: readonly Operation<RestCore>[] = [
  operation({
    tags: ['operator'],
    scope: 'operator',
    method: 'GET',
    path: `${one}/invoice-preview`,
    operationId: 'operatorPreviewInvoice',
    summary: 'Preview the invoice of an organization',
    errors: ['not_found'],
    params: idParams,
    query: z.strictObject({ period, format: invoiceFormat }),
    response: invoice.schema,
    async handle({ core, params, query }) {
      const preview = invoice.encode(await core.invoices.preview(params.id, query.period))
      return query.format === 'csv' ? invoiceFile(preview) : preview
    },
  }),
  operation({
    tags: ['operator'],
    scope: 'operator',
    method: 'GET',
    path: '/operator/v1/invoices/export',
    operationId: 'operatorExportInvoices',
    summary: 'Export the invoices of all organizations for a month',
    description:
      'Exports previews, or final invoices and credit notes with `of=final`. The format is CSV, or with `format=json` an object with all of them in `data`.',
    query: z.strictObject({
      period,
      format: z.enum(['csv', 'json']).optional().meta({ description: 'Defaults to csv.' }),
      of: z.enum(['previews', 'final']).optional().meta({ description: 'Defaults to previews.' }),
    }),
    response: media('text/csv'),
    handle({ core, query }) {
      const format = query.format ?? 'csv'
      const { month } = periodOf(query.period, core.clock.now())
      const exported = query.of === 'final' ? exportedInvoices : exportedPreviews
      return raw(Readable.from(exported(core, month, format)), {
        contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
        headers: attachmentHeaders(`invoices-${month}.${format}`),
      })
    },
  }),
]

/** Operations under `/operator/v1`. */
export const operatorOperations: readonly Operation<OperatorCore>[] = operationsOf<OperatorCore>([
  ...reading,
  ...setting,
  ...operatorQueueActions,
  ...operatorSiteActions,
  ...crediting,
  ...invoicing,
  ...operatorInvoiceActions,
  ...operatorLoginActions,
  ...systemActions,
  ...doctorActions,
])
