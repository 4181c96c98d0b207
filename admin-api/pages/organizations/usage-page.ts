/** Usage, the invoice of a month, and final invoices to print, for owners, admins and the billing role. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { lineLabel } from '#config/plans/line-texts.ts'
import { byLanguage, localeOf } from '#config/texts/formats.ts'
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
import { numberOf } from '../layout/page-texts.ts'
import type { PageTexts } from '../texts/texts-for.ts'
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
    // the address contains the organization, since a link cannot send a header
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
  /** The reader has no access to the members' page, which contains the form to leave. */
  readonly leavesHere: boolean
}

/** Throws the same `not_found` for missing and foreign organizations, and for roles without access to billing. */
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
  { visitor, query, signedIn, texts }: SignedInRequest,
  core: UsagePagesCore,
): Promise<Answer> {
  const [report, invoice] = await Promise.all([core.usage.of(id, query('period')), core.invoices.preview(id, query('period'))])
  const { month, from } = report.period
  const before = `${usagePath(id)}?period=${new Date(from - 1).toISOString().slice(0, 7)}`
  const isFresh = people.sessions.isFresh(signedIn.session)
  const keys = (await people.members.endingKeys(await people.members.principalOf(signedIn.user.id, id))).get(signedIn.user.id) ?? []
  const wayOut = isFresh
    ? leaveForm(id, name, csrfField(visitor), { keys, mayKeep: false }, texts)
    : confirmFirst(usagePath(id), texts.organization.members.confirmLeave, texts)
  const { usage: said } = texts.organization
  const { month: monthFormat } = formatsOf(texts.lang)
  return page({
    title: texts.places.usageOf({ name }),
    lang: texts.lang,
    width: 'wide',
    visitor,
    section: 'organizations',
    content: html`<p class="meta"><a class="back" href="/organizations">← ${texts.organizations}</a></p>
      <h1>${texts.places.usageOf({ name })}</h1>
      <section class="sheet" aria-labelledby="now">
        <h2 id="now">${said.limitsOf({ plan: report.plan })}</h2>
        ${figures(said.limitsCaption, [said.what, said.used, said.limit], limitCells(report.limits, texts))}
      </section>
      <section class="sheet" aria-labelledby="month">
        <h2 id="month">${asHeading(monthFormat.format(from))}</h2>
        <p class="meta">
          ${said.preview({ sends: numberOf(report.sends, texts.lang), plan: invoice.plan })}
          <a href="${before}">${said.monthBefore}</a>
          ${query('period') !== undefined && html`· <a href="${usagePath(id)}">${said.thisMonth}</a>`} ·
          <a href="${usagePath(id)}/invoice.csv?period=${month}">CSV</a>
        </p>
        ${figures(said.invoice, [said.what, said.used, said.included, invoice.currency], invoiceCells(invoice, texts))}
      </section>
      <section class="sheet" aria-labelledby="projects">
        <h2 id="projects">${said.projects}</h2>
        ${figures(said.byProject, [said.project, said.sends, said.smtp, said.captured], projectCells(report.projects, texts))}
      </section>
      ${leavesHere && wayOut}`,
  })
}

/** Month names are lowercase in French and Italian. */
const asHeading = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const formatsOf = byLanguage((lang: PageTexts['lang']) => ({
  month: new Intl.DateTimeFormat(localeOf(lang), { month: 'long', year: 'numeric', timeZone: 'UTC' }),
  money: new Intl.NumberFormat(localeOf(lang), { minimumFractionDigits: 2 }),
}))

type Cells = readonly string[]

function limitCells(limits: readonly LimitUse[], { lang, organization: { usage } }: PageTexts): readonly Cells[] {
  return limits.map(({ name, used, limit }) => [
    usage.limits[name],
    numberOf(used, lang),
    limit === undefined ? usage.unlimited : numberOf(limit, lang),
  ])
}

function invoiceCells(invoice: Invoice, { lang, organization: { usage } }: PageTexts): readonly Cells[] {
  const { netRappen, vatBasisPoints, vatRappen, totalRappen } = invoice
  const money = (rappen: number): string => formatsOf(lang).money.format(rappen / 100)
  const lines = invoice.lines.map((line) => [
    lineLabel(catalogIn('invoice-lines', lang), { ...line, plan: line.plan ?? null }),
    numberOf(line.quantity, lang),
    numberOf(line.included, lang),
    money(line.amountRappen),
  ])
  return [
    ...lines,
    [usage.net, '', '', money(netRappen)],
    [usage.vat({ percent: formatsOf(lang).money.format(vatBasisPoints / 100) }), '', '', money(vatRappen)],
    [usage.total, '', '', money(totalRappen)],
  ]
}

function projectCells(projects: readonly ProjectUsage[], { lang }: PageTexts): readonly Cells[] {
  return projects.map(({ name, sends, smtpMessages, captures }) => [
    name,
    ...[sends, smtpMessages, captures].map((count) => numberOf(count, lang)),
  ])
}

/** Returns a table whose first column labels the rows. The explicit roles keep it a table when phones wrap its rows. */
const figures = (caption: string, [first = '', ...others]: readonly string[], rows: readonly Cells[]): Html =>
  html`<table class="figures" role="table">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        <th scope="col" role="columnheader">${first}</th>
        ${others.map((title) => html`<th scope="col" role="columnheader">${title}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        ([what = '', ...cells]) =>
          html`<tr role="row">
            <th scope="row" role="rowheader">${what}</th>
            ${cells.map((cell) => html`<td role="cell">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`
