/** Page of one invoice or credit note: lines, payment, downloads and print view. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { go, link, organization } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Show } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Invoice } from '../wire/api.d.ts'
import { language } from '../texts/language.ts'
import { texts } from './billing-texts.ts'
import { InvoiceFiles } from './invoice-files.tsx'
import { InvoiceView } from './invoice-view.tsx'

export default function InvoicePage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/billing/invoices/{id}', { path: { id } }, { isShown: true })
  useKeys({ Escape: () => go(link('/settings/invoices')) }, [])
  const number = read.data?.number ?? ''
  const heading = (
    <>
      <a href={link('/settings/invoices')}>{w.invoices}</a>
      <span>{number}</span>
    </>
  )
  return (
    <>
      <TopBar title={number || w.invoice} heading={heading}>
        {read.data && (
          <InvoiceFiles
            invoice={read.data}
            print={`/organizations/${organization.value?.id ?? ''}/invoices/${id}?lang=${language.value}`}
            csv={() => call('/v1/billing/invoices/{id}', { path: { id }, query: { format: 'csv' } })}
          />
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.invoiceFailed}>
          {(invoice: Invoice) => <InvoiceView invoice={invoice} pathOf={(other) => link(`/settings/invoices/${other}`)} />}
        </Show>
      </div>
    </>
  )
}
