/** Invoice page of the operator: records a payment, or cancels the invoice with a credit note. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { texts as billingTexts } from '../billing/billing-texts.ts'
import { InvoiceFiles } from '../billing/invoice-files.tsx'
import { InvoiceView } from '../billing/invoice-view.tsx'
import { call } from '../app/api.ts'
import { useKeys } from '../app/keys.ts'
import { go, link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { language } from '../texts/language.ts'
import type { Invoice } from '../wire/api.d.ts'
import { texts } from './operator-billing-texts.ts'

export default function OperatorInvoice({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/invoices/{id}', { path: { id } }, { isShown: true })
  const [open, setOpen] = useState<'mark' | 'void'>()
  useKeys({ Escape: () => go(link('/operator/invoices')) }, [])
  const invoice = read.data
  const heading = (
    <>
      <a href={link('/operator/invoices')}>{w.invoices}</a>
      <span>{invoice?.number ?? ''}</span>
    </>
  )
  const close = (): void => setOpen(undefined)
  return (
    <>
      <TopBar title={invoice?.number ?? w.invoices} heading={heading}>
        {invoice && (
          <InvoiceFiles
            invoice={invoice}
            print={`/operator/v1/invoices/${id}?format=html&lang=${language.value}`}
            csv={() => call('/operator/v1/invoices/{id}', { path: { id }, query: { format: 'csv' } })}
          />
        )}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={billingTexts().invoiceFailed}>
          {(shown) => (
            <>
              <Doing invoice={shown} onOpen={setOpen} />
              <InvoiceView invoice={shown} pathOf={(other) => link(`/operator/invoices/${other}`)} />
            </>
          )}
        </Show>
      </div>
      {open === 'mark' && invoice && <MarkPayment invoice={invoice} onClose={close} onDone={read.reload} />}
      {open === 'void' && invoice && <VoidInvoice invoice={invoice} onClose={close} />}
    </>
  )
}

interface DoingProps {
  readonly invoice: Invoice
  readonly onOpen: (dialog: 'mark' | 'void') => void
}

/** Actions on the invoice, and a link to its organization. */
function Doing({ invoice: { state, organization_id: id, organization_name: name }, onOpen }: DoingProps): JSX.Element {
  const w = texts()
  const isOwed = state === 'open' || state === 'paid' || state === 'uncollectible'
  return (
    <div class="actions invoice-doing">
      <a href={link(`/operator/organizations/${id}`, { tab: 'invoices' })}>
        <SafeText text={name} />
      </a>
      {isOwed && (
        <button class="button primary" onClick={() => onOpen('mark')}>
          {w.mark}
        </button>
      )}
      {state !== null && state !== 'void' && (
        <button class="button danger" onClick={() => onOpen('void')}>
          {w.void}
        </button>
      )}
    </div>
  )
}

const states = ['paid', 'open', 'uncollectible'] as const

interface ActProps {
  readonly invoice: Invoice
  readonly onClose: () => void
}

function MarkPayment({ invoice, onClose, onDone }: ActProps & { readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [state, setState] = useState<(typeof states)[number]>(states.find((one) => one !== invoice.state) ?? 'paid')
  const [remark, setRemark] = useState('')
  const save = async (): Promise<void> => {
    const body = { state, ...(remark.trim() !== '' && { remark: remark.trim() }) }
    await call('PUT /operator/v1/invoices/{id}/payment', { path: { id: invoice.id }, body })
    onClose()
    onDone()
    toast(w.marked)
  }
  return (
    <FormDialog title={w.mark} submit={w.mark} needsConfirmation onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <p class="soft">{w.markText}</p>
          <ChooseField
            label={w.state}
            value={state}
            onChange={(value) => setState(value as typeof state)}
            options={states.map((one) => [one, billingTexts().states[one]])}
          />
          <TextField label={w.remark} hint={w.remarkHint} value={remark} onChange={setRemark} fault={fault?.fields.get('remark')} />
        </>
      )}
    </FormDialog>
  )
}

function VoidInvoice({ invoice, onClose }: ActProps): JSX.Element {
  const w = texts()
  const [reason, setReason] = useState('')
  const [reopens, setReopens] = useState(false)
  const run = async (): Promise<void> => {
    const note = await call('POST /operator/v1/invoices/{id}/void', {
      path: { id: invoice.id },
      body: { reason: reason.trim(), ...(reopens && { reopen: true }) },
    })
    onClose()
    toast(w.voided({ number: note.number }))
    go(link(`/operator/invoices/${note.id}`))
  }
  return (
    <EndDialog
      title={w.voidTitle}
      effects={[w.voidEffects.note, w.voidEffects.stays]}
      name={invoice.number}
      submit={w.void}
      needsConfirmation
      onClose={onClose}
      onSubmit={run}
    >
      <TextField label={w.voidReason} hint={w.voidReasonHint} value={reason} onChange={setReason} />
      <label class="check">
        <input type="checkbox" checked={reopens} onChange={(event) => setReopens(event.currentTarget.checked)} />
        {w.reopen}
      </label>
    </EndDialog>
  )
}
