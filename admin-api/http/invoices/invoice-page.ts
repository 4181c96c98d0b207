/** A final invoice as a printable page: no scripts, no external resources, and an inline style. */
import { hash } from 'node:crypto'
import { catalogIn } from '#config/catalogs/catalog-in.ts'
import { lineLabel } from '#config/plans/line-texts.ts'
import { raw, type Answer } from '../../operation/answer.ts'
import { html, type Html } from '../../pages/layout/html.ts'
import type { WireFinalInvoice } from '../../wire/organization/invoices.ts'
import { isOfAll } from '../../wire/organization/usage.ts'
import type { PageTexts } from './page-texts.ts'

const style = `
:root { color-scheme: light; font: 400 15px/1.5 system-ui, sans-serif; color: #11201c; background: #f0f3f2 }
body { max-width: 50rem; margin: 2rem auto; padding: 3rem; background: #fff; border: 1px solid #dde4e1 }
header, dl { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem 3rem }
address { font-style: normal; white-space: pre-line }
h1 { margin: 2.5rem 0 1rem; font-size: 1.5rem }
dl { grid-template-columns: auto 1fr; gap: .25rem 1.5rem; margin: 0 0 2rem }
dt, .soft { color: #47554f } dd { margin: 0 }
table { width: 100%; border-collapse: collapse; margin-bottom: 2rem; break-inside: auto }
caption { text-align: start; font-weight: 600; padding: .5rem 0 }
th, td { padding: .4rem .5rem; border-bottom: 1px solid #dde4e1; text-align: end; vertical-align: top; font-variant-numeric: tabular-nums }
th:first-child, td:first-child { text-align: start; padding-inline-start: 0 } td:last-child, th:last-child { padding-inline-end: 0 }
th { font-weight: 500 } thead th { color: #47554f } tr { break-inside: avoid }
tfoot tr:last-child > * { font-weight: 700; border-bottom: 2px solid #11201c }
.note { padding: .75rem 1rem; background: #fbf0da }
@page { margin: 18mm }
@media print { :root { background: #fff; font-size: 10pt } body { margin: 0; padding: 0; border: 0; max-width: none } }
@media (max-width: 40rem) { body { margin: 0; padding: 1rem } header { grid-template-columns: 1fr } }
@media (max-width: 30rem) { body { padding: .75rem } table { font-size: .75rem } th, td { padding-inline: .2rem } td:first-child { overflow-wrap: anywhere } td:last-child { white-space: nowrap } }
`
const styleDigest = hash('sha256', style, 'base64')

export const invoicePage = (invoice: WireFinalInvoice, texts: PageTexts): Answer =>
  raw(`<!doctype html>\n${String(document(invoice, texts))}`, {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleDigest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
      'x-robots-tag': 'noindex, nofollow',
    },
  })

/** Created for each page, since languages have many formats and printed pages are rare. */
function formatsOf({ locale }: PageTexts) {
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' })
  const numbers = new Intl.NumberFormat(locale)
  const amounts = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 })
  const prices = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 8 })
  return {
    day: (time: string) => days.format(Date.parse(time)),
    number: (count: number) => numbers.format(count),
    money: (rappen: number) => amounts.format(rappen / 100),
    price: (urp: number) => prices.format(urp / 100_000_000),
  }
}

interface Speech {
  readonly texts: PageTexts
  readonly formats: ReturnType<typeof formatsOf>
}

const document = (invoice: WireFinalInvoice, texts: PageTexts): Html => {
  const speech: Speech = { texts, formats: formatsOf(texts) }
  const title = `${invoice.type === 'invoice' ? texts.invoice : texts.creditNote} ${invoice.number}`
  return html`<html lang="${texts.lang}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${title}</title>
      ${styled()}
    </head>
    <body>
      <header>
        <address>${invoice.recipient.join('\n')}${invoice.vat_number !== '' && `\n${invoice.vat_number}`}</address>
        <address>${invoice.issuer.join('\n')}</address>
      </header>
      <main>
        <h1>${title}</h1>
        ${invoice.state === 'void' && html`<p class="note">${texts.isVoid}</p>`} ${facts(invoice, speech)} ${lines(invoice, speech)}
        ${details(invoice, speech)}
      </main>
    </body>
  </html>`
}

/** The text must match its digest, so it is not escaped or reformatted. */
const styled = (): Html => html([`<style>${style}</style>`] as unknown as TemplateStringsArray)

function facts(invoice: WireFinalInvoice, { texts, formats: { day } }: Speech): Html {
  const { issued_at, due_at, from, until, organization_name, reference, reason, state } = invoice
  const last = new Date(Date.parse(until) - 1).toISOString()
  const rows: readonly (readonly [string, string | null])[] = [
    [texts.date, day(issued_at)],
    [texts.due, state === 'settled' || due_at === null ? null : day(due_at)],
    [texts.period, texts.until({ first: day(from), last: day(last) })],
    [texts.organization, organization_name],
    [texts.reference, reference === '' ? null : reference],
    [texts.reason, reason],
    [texts.payment, state === null || state === 'void' ? null : texts.states[state]],
  ]
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        value !== null &&
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

const lines = (invoice: WireFinalInvoice, { texts, formats: { number, money, price } }: Speech): Html =>
  html`<table>
    <thead>
      <tr>
        ${[...Object.values(texts.columns), texts.price({ currency: invoice.currency }), invoice.currency].map((title) => html`<th scope="col">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${invoice.lines.map((line) => {
        const { quantity, included, billable, unit_price_urp, per, amount_rappen } = line
        return html`<tr>
          <td>${lineLabel(catalogIn('invoice-lines', texts.lang), line)}</td>
          ${[quantity, included, billable].map((count) => html`<td>${number(count)}</td>`)}
          <td>${price(unit_price_urp)}${per > 1 && ` ${texts.perDays({ days: per })}`}</td>
          <td>${money(amount_rappen)}</td>
        </tr>`
      })}
    </tbody>
    <tfoot>
      ${[
        [texts.net, invoice.net_rappen] as const,
        [texts.vat({ percent: money(invoice.vat_basis_points) }), invoice.vat_rappen] as const,
        [texts.total({ currency: invoice.currency }), invoice.total_rappen] as const,
      ].map(
        ([name, amount]) =>
          html`<tr>
            <th scope="row" colspan="5">${name}</th>
            <td>${money(amount)}</td>
          </tr>`,
      )}
    </tfoot>
  </table>`

/** The parts of the quantities, for lines with an amount. */
const details = ({ lines: all }: WireFinalInvoice, { texts, formats: { number } }: Speech): Html =>
  html`${all
    .filter(({ amount_rappen, axis }) => amount_rappen !== 0 && axis !== 'monthly_fee')
    .map((line) => {
      const others = isOfAll(line) ? texts.wholeOrganization : texts.otherProjects
      const parts = [
        [texts.byProject, line.projects.map(({ name, project_id, quantity }) => [project_id === null ? others : name, quantity] as const)],
        [texts.byDay, line.days.map((one) => [one.day, one.quantity] as const)],
      ] as const
      return html`<table>
        <caption>
          ${lineLabel(catalogIn('invoice-lines', texts.lang), line)}
        </caption>
        ${parts.map(
          ([title, rows]) =>
            rows.length > 0 &&
            html`<tbody>
              <tr>
                <th scope="rowgroup" colspan="2">${title}</th>
              </tr>
              ${rows.map(
                ([name, quantity]) =>
                  html`<tr>
                    <td>${name}</td>
                    <td>${number(quantity)}</td>
                  </tr>`,
              )}
            </tbody>`,
        )}
      </table>`
    })}`
