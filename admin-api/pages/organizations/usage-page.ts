/** Usage, the invoice of a month, and final invoices to print, for owners, admins and the role for billing. */
import { atFirstUse } from '#config/words/formats.ts'
import type { Invoice, Invoices } from '#core/billing/invoice.ts'
import type { InvoiceRegister } from '#core/billing/closing/invoice-register.ts'
import type { LimitUse, ProjectUsage, Usage } from '#core/billing/usage-report.ts'
import type { RoleScopes } from '#core/access/principal/role.ts'
import { Refusal } from '#core/refusals.ts'
import type { Answer } from '../../operation/answer.ts'
import type { Operation } from '../../operation/operation.ts'
import { invoiceFile } from '../../http/download.ts'
import { shownInvoice } from '../../http/invoices/shown-invoice.ts'
import { invoice as wireInvoice } from '../../wire/organization/usage.ts'
import { confirmFirst, csrfField } from '../session/confirm-first.ts'
import { html, type Html } from '../layout/html.ts'
import { page } from '../layout/layout.ts'
import { leaveForm } from './leave-form.ts'
import type { Pages, SignedInRequest } from '../session/page-operation.ts'

export interface UsagePagesCore {
  readonly usage: Usage
  readonly invoices: Invoices
  readonly billing: { readonly register: Pick<InvoiceRegister, 'get'> }
}

export const usagePath = (organizationId: string): string => `/organizations/${organizationId}/usage`

export function usageOperations(pages: Pages, core: UsagePagesCore): readonly Operation[] {
  const path = '/organizations/{id}/usage'
  return [
    pages.signedIn({ path, operationId: 'showUsage', summary: 'Show usage and the invoice of a month' }, async (request) =>
      usagePage(pages, await organizationOf(pages, request), request, core),
    ),
    pages.signedIn(
      { path: `${path}/invoice.csv`, operationId: 'downloadInvoicePreview', summary: 'Download the invoice of a month' },
      async (request) => {
        const { id } = await organizationOf(pages, request)
        return invoiceFile(wireInvoice.encode(await core.invoices.preview(id, request.query('period'))))
      },
    ),
    // of one organization by its address, as a link names none otherwise
    pages.signedIn(
      { path: '/organizations/{id}/invoices/{invoice_id}', operationId: 'showInvoice', summary: 'Show an invoice to print' },
      async (request) => {
        const { id } = await organizationOf(pages, request)
        const registered = await core.billing.register.get(id, request.params['invoice_id'] ?? '')
        return shownInvoice(registered, { format: 'html', lang: request.query('lang') }, request.headers) as Answer
      },
    ),
  ]
}

interface Billed {
  readonly id: string
  readonly name: string
  /** The reader sees no page of members, where others leave. */
  readonly leavesHere: boolean
}

/** Throws `not_found` alike for organizations that are missing, those of others, and roles that see no billing. */
async function organizationOf({ people }: Pages, { signedIn, params: { id = '' } }: SignedInRequest): Promise<Billed> {
  const mine = await people.members.organizationsOf(signedIn.user.id)
  const found = mine.find(({ organization }) => organization.id === id)
  const permissions: RoleScopes | undefined = found && (await people.members.scopesOfMember(id, signedIn.user.id))
  if (found && permissions?.seesBilling) return { id, name: found.organization.name, leavesHere: permissions.scopes.length === 0 }
  throw new Refusal('not_found', 'No usage is visible to you.')
}

async function usagePage(
  { people }: Pages,
  { id, name, leavesHere }: Billed,
  { visitor, query, signedIn }: SignedInRequest,
  core: UsagePagesCore,
): Promise<Answer> {
  const [report, invoice] = await Promise.all([core.usage.of(id, query('period')), core.invoices.preview(id, query('period'))])
  const { month, from } = report.period
  const before = `${usagePath(id)}?period=${new Date(from - 1).toISOString().slice(0, 7)}`
  const isFresh = people.sessions.isFresh(signedIn.session)
  const keys = (await people.members.endingKeys(await people.members.principalOf(signedIn.user.id, id))).get(signedIn.user.id) ?? []
  const wayOut = isFresh
    ? leaveForm(id, name, csrfField(visitor), { keys, mayKeep: false })
    : confirmFirst(usagePath(id), 'To leave, confirm your identity.')
  return page({
    title: `Usage of ${name}`,
    width: 'wide',
    visitor,
    section: 'organizations',
    content: html`<p class="meta"><a class="back" href="/organizations">← Organizations</a></p>
      <h1>Usage of ${name}</h1>
      <section class="sheet" aria-labelledby="now">
        <h2 id="now">Limits of the plan ${report.plan}</h2>
        ${figures('Present use of the limits', ['What', 'Used', 'Limit'], report.limits.map(limitCells))}
      </section>
      <section class="sheet" aria-labelledby="month">
        <h2 id="month">${monthFormat().format(from)}</h2>
        <p class="meta">
          ${report.sends} sends. Preview of the invoice, on the plan ${invoice.plan}.
          <a href="${before}">Month before</a> ${query('period') !== undefined && html`· <a href="${usagePath(id)}">This month</a>`} ·
          <a href="${usagePath(id)}/invoice.csv?period=${month}">CSV</a>
        </p>
        ${figures('The invoice', ['What', 'Used', 'Of plan', invoice.currency], [...invoice.lines.map(lineCells), ...sumCells(invoice)])}
      </section>
      <section class="sheet" aria-labelledby="projects">
        <h2 id="projects">Projects</h2>
        ${figures('Of the month, by project', ['Project', 'Sends', 'By SMTP', 'Captured'], report.projects.map(projectCells))}
      </section>
      ${leavesHere && wayOut}`,
  })
}

const monthFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }))
const numberFormat = atFirstUse(() => new Intl.NumberFormat('en-CH'))
const moneyFormat = atFirstUse(() => new Intl.NumberFormat('en-CH', { minimumFractionDigits: 2 }))

const limitWords: Readonly<Record<LimitUse['name'], string>> = {
  sends_today: 'Sends today',
  traces_stored: 'Traces stored',
  smtp_credentials: 'SMTP credentials',
  templates: 'Templates',
  form_submissions_today: 'Form submissions today',
  form_file_mebibytes: 'Files from forms kept, in MiB',
  inbound_mebibytes: 'Incoming mail kept, in MiB',
}

type Cells = readonly string[]

const limitCells = ({ name, used, limit }: LimitUse): Cells => [
  limitWords[name],
  numberFormat().format(used),
  limit === undefined ? 'none' : numberFormat().format(limit),
]

const lineCells = ({ label, quantity, included, amountRappen }: Invoice['lines'][number]): Cells => [
  label,
  numberFormat().format(quantity),
  numberFormat().format(included),
  moneyFormat().format(amountRappen / 100),
]

const sumCells = ({ netRappen, vatBasisPoints, vatRappen, totalRappen }: Invoice): readonly Cells[] => [
  ['Net', '', '', moneyFormat().format(netRappen / 100)],
  [`VAT ${(vatBasisPoints / 100).toFixed(2)} %`, '', '', moneyFormat().format(vatRappen / 100)],
  ['Total', '', '', moneyFormat().format(totalRappen / 100)],
]

const projectCells = ({ name, sends, smtpMessages, captures }: ProjectUsage): Cells => [
  name,
  ...[sends, smtpMessages, captures].map((count) => numberFormat().format(count)),
]

/** A table whose first column says what the others count. */
const figures = (caption: string, [first = '', ...others]: readonly string[], rows: readonly Cells[]): Html =>
  html`<table class="figures">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        <th scope="col">${first}</th>
        ${others.map((title) => html`<th scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ([what = '', ...cells]) =>
          html`<tr>
            <th scope="row">${what}</th>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
