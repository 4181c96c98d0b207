/** Final invoices of all organizations for a month, and the action that closes a month. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { texts as billingTexts } from '../billing/billing-texts.ts'
import { invoiceColumns } from '../billing/invoice-columns.tsx'
import { markOf, stateOf } from '../billing/invoice-state.tsx'
import { call, save } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { showFault, useList } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { francs } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { months } from '../usage/months.ts'
import type { InvoiceSummary } from '../wire/api.d.ts'
import { texts } from './operator-billing-texts.ts'

export default function OperatorInvoices({ areas }: { readonly areas: JSX.Element }): JSX.Element {
  const w = texts()
  const all = months()
  const before = all[1] ?? ''
  const period = all.find((one) => one === query.value.get('period')) ?? before
  const list = useList('/operator/v1/invoices', { query: { period } })
  const pathOf = ({ id }: InvoiceSummary): string => link(`/operator/invoices/${id}`)
  const download = async (): Promise<void> => {
    try {
      await save(await call('/operator/v1/invoices/export', { query: { period, of: 'final' } }), `invoices-${period}.csv`)
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <>
      <TopBar title={w.invoices}>
        <button class="button" onClick={() => void download()} title={w.finalFile}>
          <Icon name="download" />
          <span class="shell-label">CSV</span>
        </button>
        <a class="button primary" href={linkHere({ do: 'new' })} title={w.closeMonth}>
          <Icon name="check" />
          <span class="shell-label">{w.closeMonth}</span>
        </a>
      </TopBar>
      {areas}
      <div class="sheet">
        <div class="usage-month operator-period">
          <ChooseField
            label={w.month}
            value={period}
            onChange={(value) => go(linkHere({ period: value === before ? '' : value }), { replaces: true })}
            options={all.map((one) => [one, one])}
          />
        </div>
        <List
          label={w.invoices}
          list={list}
          failure={w.invoicesFailed}
          keyOf={({ id }) => id}
          open={pathOf}
          empty={<State title={w.noInvoices({ month: period })} text={w.noInvoicesText} />}
          columns={[
            ...invoiceColumns(pathOf).slice(0, 1),
            {
              head: w.organization,
              cell: ({ organization_id: id, organization_name: name }) => (
                <a href={link(`/operator/organizations/${id}`, { tab: 'invoices' })}>
                  <SafeText text={name} />
                </a>
              ),
            },
            ...invoiceColumns(pathOf).slice(2),
          ]}
          narrow={(one) => [
            <Mark name={markOf(one)} />,
            one.number,
            `${plain(one.organization_name)} · ${billingTexts().states[stateOf(one)]}`,
            francs(one.total_rappen),
          ]}
        />
      </div>
      {query.value.get('do') === 'new' && <CloseMonth begin={before} onDone={list.reload} />}
    </>
  )
}

function CloseMonth({ begin, onDone }: { readonly begin: string; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [period, setPeriod] = useState(begin)
  const [isPartly, setPartly] = useState(false)
  const close = (): void => go(linkHere({ do: '' }), { replaces: true })
  const run = async (): Promise<void> => {
    const made = await call('POST /operator/v1/invoices/close', { body: { period: period.trim() } })
    onDone()
    toast(w.closed({ month: made.period, made: made.closed, before: made.already }))
    setPartly(!made.is_complete)
    if (made.is_complete) close()
  }
  return (
    <FormDialog title={w.closeMonth} submit={w.closeMonth} needsConfirmation onClose={close} onSubmit={run}>
      {(fault) => (
        <>
          <p class="soft">{w.closeText}</p>
          <TextField
            label={w.closePeriod}
            hint={w.periodHint}
            value={period}
            onChange={setPeriod}
            fault={fault?.fields.get('period')}
            isMono
          />
          {isPartly && <p class="note warn">{w.notComplete}</p>}
        </>
      )}
    </FormDialog>
  )
}
