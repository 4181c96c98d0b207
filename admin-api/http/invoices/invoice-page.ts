/** A final invoice as a page to print: no script, nothing from elsewhere, and one style of its own. */
import { hash } from 'node:crypto'
import { atFirstUse } from '#config/words/formats.ts'
import { raw, type Answer } from '../../operation/answer.ts'
import { html, type Html } from '../../pages/layout/html.ts'
import type { WireFinalInvoice } from '../../wire/organization/invoices.ts'

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
`
const styleDigest = hash('sha256', style, 'base64')

export const invoicePage = (invoice: WireFinalInvoice): Answer =>
  raw(`<!doctype html>\n${String(document(invoice))}`, {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleDigest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
      'x-robots-tag': 'noindex, nofollow',
    },
  })

const dayFormat = atFirstUse(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }))
const numberFormat = atFirstUse(() => new Intl.NumberFormat('en-CH'))
const moneyFormat = atFirstUse(() => new Intl.NumberFormat('en-CH', { minimumFractionDigits: 2 }))
const priceFormat = atFirstUse(() => new Intl.NumberFormat('en-CH', { minimumFractionDigits: 2, maximumFractionDigits: 8 }))

const day = (time: string): string => dayFormat().format(Date.parse(time))
const money = (rappen: number): string => moneyFormat().format(rappen / 100)

const document = (invoice: WireFinalInvoice): Html => {
  const title = `${invoice.type === 'invoice' ? 'Invoice' : 'Credit note'} ${invoice.number}`
  return html`<html lang="en">
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
        ${invoice.state === 'void' && html`<p class="note">This invoice is void.</p>`} ${facts(invoice)} ${lines(invoice)}
        ${details(invoice)}
      </main>
    </body>
  </html>`
}

/** Its text is that of the digest, so nothing is escaped or moved in it. */
const styled = (): Html => html([`<style>${style}</style>`] as unknown as TemplateStringsArray)

function facts({ issued_at, due_at, from, until, organization_name, reference, reason, state }: WireFinalInvoice): Html {
  const last = new Date(Date.parse(until) - 1).toISOString()
  const rows: readonly (readonly [string, string | null])[] = [
    ['Date', day(issued_at)],
    ['Due', state === 'settled' || due_at === null ? null : day(due_at)],
    ['Period', `${day(from)} to ${day(last)} (UTC)`],
    ['Organization', organization_name],
    ['Reference', reference === '' ? null : reference],
    ['Reason', reason],
    ['Payment', state === null || state === 'void' ? null : state],
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

const lines = (invoice: WireFinalInvoice): Html =>
  html`<table>
    <thead>
      <tr>
        <th scope="col">What</th>
        <th scope="col">Used</th>
        <th scope="col">Included</th>
        <th scope="col">Billed</th>
        <th scope="col">Price in ${invoice.currency}</th>
        <th scope="col">${invoice.currency}</th>
      </tr>
    </thead>
    <tbody>
      ${invoice.lines.map(
        ({ label, quantity, included, billable, unit_price_urp, per, amount_rappen }) =>
          html`<tr>
            <td>${label}</td>
            ${[quantity, included, billable].map((count) => html`<td>${numberFormat().format(count)}</td>`)}
            <td>${priceFormat().format(unit_price_urp / 100_000_000)}${per > 1 && ` / ${per} days`}</td>
            <td>${money(amount_rappen)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      ${[
        ['Net', invoice.net_rappen] as const,
        [`VAT ${(invoice.vat_basis_points / 100).toFixed(2)} %`, invoice.vat_rappen] as const,
        [`Total ${invoice.currency}`, invoice.total_rappen] as const,
      ].map(
        ([name, amount]) =>
          html`<tr>
            <th scope="row" colspan="5">${name}</th>
            <td>${money(amount)}</td>
          </tr>`,
      )}
    </tfoot>
  </table>`

/** What the quantities are made of, of lines that cost something. */
const details = ({ lines: all }: WireFinalInvoice): Html =>
  html`${all
    .filter(({ amount_rappen, axis, days, projects }) => amount_rappen !== 0 && axis !== 'monthly_fee' && days.length + projects.length > 0)
    .map(({ label, days, projects }) => {
      const rows = [
        ...projects.map(({ name, project_id, quantity }) => [project_id === null ? 'Other projects' : name, quantity] as const),
        ...days.map((one) => [one.day, one.quantity] as const),
      ]
      return html`<table>
        <caption>
          ${label}
        </caption>
        <tbody>
          ${rows.map(
            ([name, quantity]) =>
              html`<tr>
                <td>${name}</td>
                <td>${numberFormat().format(quantity)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`
    })}`
