/** All organizations with a search, and a download of the invoices of a month. */
import type { JSX } from 'preact'
import { call, save } from '../app/api.ts'
import { link, linkHere, query } from '../app/location.ts'
import { showFault, useList } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { List, SearchBox } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { dateOnly } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { OperatorOrganization } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './operator-texts.ts'

async function download(): Promise<void> {
  try {
    await save(await call('/operator/v1/invoices/export', {}), 'invoices.csv')
  } catch (error) {
    showFault(error)
  }
}

const Name = ({ name, deleted_at: at }: OperatorOrganization): JSX.Element => (
  <>
    <SafeText text={name} /> {at !== null && <span class="tag bad">{texts().deleted}</span>}
  </>
)

export function OrganizationList({ areas }: { readonly areas: JSX.Element }): JSX.Element {
  const w = texts()
  const text = query.value.get('q') ?? ''
  const list = useList('/operator/v1/organizations', { query: { ...(text !== '' && { q: text }) } })
  return (
    <>
      <TopBar title={w.organizations}>
        <button class="button" onClick={() => void download()} title={w.exportInvoices}>
          <Icon name="download" />
          <span class="shell-label">{w.exportInvoices}</span>
        </button>
      </TopBar>
      {areas}
      <div class="sheet">
        <SearchBox id="organization-search" label={w.search} text={text} />
        <List
          label={w.organizations}
          list={list}
          failure={w.listFailed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/operator/organizations/${id}`)}
          empty={
            <State title={w.nothingMatches({ text })} drawing={<Icon name="search" />}>
              <div class="actions">
                <a class="button" href={linkHere({ q: '' })}>
                  {allTexts().clearAll}
                </a>
              </div>
            </State>
          }
          columns={[
            {
              head: w.name,
              class: 'strong',
              cell: (one) => (
                <a href={link(`/operator/organizations/${one.id}`)}>
                  <Name {...one} />
                </a>
              ),
            },
            { head: 'Id', cell: ({ id }) => <code>{id}</code> },
            { head: w.plan, class: 'c-status', cell: ({ plan }) => plan },
            { head: w.payment, class: 'c-status', cell: ({ payment_state: state }) => state },
            { head: w.created, class: 'c-status', cell: ({ created_at: at }) => dateOnly(at) },
          ]}
          narrow={(one) => [
            <Mark name={one.deleted_at === null ? 'ok' : 'canceled'} />,
            <SafeText text={one.name} />,
            `${one.plan} · ${one.payment_state}`,
            dateOnly(one.created_at),
          ]}
        />
      </div>
    </>
  )
}
