/** Billing profile and final invoices of an organization. */
import type { JSX } from 'preact'
import { invoiceColumns } from '../billing/invoice-columns.tsx'
import { markOf, stateOf } from '../billing/invoice-state.tsx'
import { texts as billingTexts } from '../billing/billing-texts.ts'
import { link } from '../app/location.ts'
import { useList } from '../app/query.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { dateOnly, francs } from '../parts/time.ts'
import { BillingProfileBlock } from './billing-profile.tsx'
import { texts } from './operator-billing-texts.ts'

export function InvoicesTab({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const list = useList('/operator/v1/organizations/{id}/invoices', { path: { id } })
  const pathOf = (invoice: { readonly id: string }): string => link(`/operator/invoices/${invoice.id}`)
  return (
    <>
      <BillingProfileBlock id={id} />
      <section aria-labelledby="operator-invoices">
        <div class="head">
          <h2 id="operator-invoices">{w.ofOrganization}</h2>
        </div>
        <List
          label={w.ofOrganization}
          list={list}
          failure={w.invoicesFailed}
          keyOf={(one) => one.id}
          open={pathOf}
          empty={<p class="no-rows soft">{w.noneOfOrganization}</p>}
          columns={invoiceColumns(pathOf)}
          narrow={(one) => [
            <Mark name={markOf(one)} />,
            one.number,
            `${one.period} · ${billingTexts().states[stateOf(one)]} · ${dateOnly(one.issued_at)}`,
            francs(one.total_rappen),
          ]}
        />
      </section>
    </>
  )
}
