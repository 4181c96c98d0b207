/** Credits of an organization, and the form that grants credits. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { CreditGrants } from '../credits/credit-grants.tsx'
import { TextField, Segments } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Show } from '../parts/states.tsx'
import { credits as shown } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Credits } from '../wire/api.d.ts'
import { texts } from './operator-billing-texts.ts'

export function CreditsTab({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/organizations/{id}/credits', { path: { id } }, { isShown: true })
  return (
    <>
      <Show read={read} reload={read.reload} failure={w.creditsFailed}>
        {(credits) => (
          <>
            <div class="say operator-credits">
              <h2>{sayOf(credits)}</h2>
              <div class="actions">
                <a class="button primary" href={linkHere({ new: '1' })}>
                  {w.grant}
                </a>
              </div>
            </div>
            <CreditGrants grants={credits.grants} />
          </>
        )}
      </Show>
      {query.value.get('new') === '1' && <Grant id={id} onDone={read.reload} />}
    </>
  )
}

function sayOf({ balance_credits: balance, is_unlimited: isUnlimited, has_credit: hasCredit }: Credits): string {
  const w = texts()
  if (isUnlimited) return w.byContract
  return hasCredit ? w.left({ amount: shown(balance) }) : w.noneLeft
}

type Kind = 'operator' | 'purchased'

function Grant({ id, onDone }: { readonly id: string; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [amount, setAmount] = useState('')
  const [kind, setKind] = useState<Kind>('operator')
  const [until, setUntil] = useState('')
  const [note, setNote] = useState('')
  const close = (): void => go(linkHere({ new: '' }), { replaces: true })
  const typed = amount.trim().replace(',', '.')
  const grant = async (): Promise<void> => {
    const ends = until === '' ? {} : { expires_at: new Date(until).toISOString() }
    const { amount: granted } = await call('POST /operator/v1/organizations/{id}/credits', {
      path: { id },
      body: { credits: typed, kind, ...ends, ...(note.trim() !== '' && { note: note.trim() }) },
    })
    close()
    onDone()
    toast(w.granted({ amount: shown(granted) }))
  }
  return (
    <FormDialog title={w.grant} submit={w.grant} needsConfirmation isReady={typed !== ''} onClose={close} onSubmit={grant}>
      {(fault) => (
        <>
          <p class="soft">{w.grantText}</p>
          <TextField label={w.amount} hint={w.amountHint} value={amount} onChange={setAmount} fault={fault?.fields.get('credits')} isMono />
          <Segments
            label={w.kind}
            value={kind}
            onChoose={setKind}
            choices={(['operator', 'purchased'] as const).map((value) => ({ value, label: w.kinds[value] }))}
          />
          <TextField
            label={w.expires}
            hint={w.expiresHint}
            type="datetime-local"
            value={until}
            onChange={setUntil}
            fault={fault?.fields.get('expires_at')}
          />
          <TextField label={w.note} value={note} onChange={setNote} fault={fault?.fields.get('note')} />
        </>
      )}
    </FormDialog>
  )
}
