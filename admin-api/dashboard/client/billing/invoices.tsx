/** Invoices and credit notes of the organization. */
import type { JSX } from 'preact'
import { later } from '../app/later.tsx'
import { link } from '../app/location.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { State } from '../parts/states.tsx'
import { dateOnly, francs } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from './billing-texts.ts'
import { invoiceColumns } from './invoice-columns.tsx'
import { markOf, stateOf } from './invoice-state.tsx'

const InvoicePage = later(() => import('./invoice-page.tsx'))

export default function Invoices({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <InvoiceList /> : <InvoicePage key={id} id={id} />
}

function InvoiceList(): JSX.Element {
  const w = texts()
  const list = useList('/v1/billing/invoices', {})
  const pathOf = ({ id }: { readonly id: string }): string => link(`/settings/invoices/${id}`)
  return (
    <>
      <TopBar title={w.invoices} />
      <div class="sheet">
        <List
          label={w.invoices}
          list={list}
          failure={w.invoicesFailed}
          keyOf={({ id }) => id}
          open={pathOf}
          empty={
            <State title={w.noInvoices} text={w.noInvoicesText}>
              <div class="actions">
                <a class="button" href={link('/settings/usage')}>
                  {w.seeMonth}
                </a>
                <a class="button quiet" href="/docs/billing">
                  {w.chapter}
                </a>
              </div>
            </State>
          }
          columns={invoiceColumns(pathOf)}
          narrow={(one) => [
            <Mark name={markOf(one)} />,
            one.number,
            `${one.period} · ${w.states[stateOf(one)]} · ${dateOnly(one.issued_at)}`,
            francs(one.total_rappen),
          ]}
        />
      </div>
    </>
  )
}
