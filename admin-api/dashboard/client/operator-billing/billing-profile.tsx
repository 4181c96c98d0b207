/** Billing name, address and VAT of an organization, and the form that changes them. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { decimal } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { BillingProfile } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './operator-billing-texts.ts'

export function BillingProfileBlock({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/organizations/{id}/billing-profile', { path: { id } })
  const [isEditing, setEditing] = useState(false)
  return (
    <section aria-labelledby="billing-profile">
      <div class="head">
        <h2 id="billing-profile">{w.profile}</h2>
      </div>
      <Show read={read} reload={read.reload} failure={w.profileFailed} rows={3}>
        {(profile) => (
          <div class="invoice-facts">
            <ProfileFacts profile={profile} />
            <div class="actions profile-actions">
              <button class="button" onClick={() => setEditing(true)}>
                {w.edit}
              </button>
            </div>
            {isEditing && <EditProfile id={id} profile={profile} onClose={() => setEditing(false)} onDone={read.reload} />}
          </div>
        )}
      </Show>
    </section>
  )
}

const perPercent = 100

function ProfileFacts({ profile }: { readonly profile: BillingProfile }): JSX.Element {
  const w = texts()
  const { recipient, vat_number: number, reference, vat_basis_points: rate } = profile
  return (
    <dl class="facts">
      <dt>{w.recipient}</dt>
      <dd>
        {recipient.length === 0
          ? w.nameOnly
          : recipient.map((line, i) => (
              <div key={i}>
                <SafeText text={line} />
              </div>
            ))}
      </dd>
      <dt>{w.vatNumber}</dt>
      <dd>{number === '' ? '–' : <SafeText text={number} />}</dd>
      <dt>{w.reference}</dt>
      <dd>{reference === '' ? '–' : <SafeText text={reference} />}</dd>
      <dt>{w.vatRate}</dt>
      <dd>{rate === null ? w.byService : decimal(rate / perPercent, 0, 2)}</dd>
    </dl>
  )
}

interface EditProps {
  readonly id: string
  readonly profile: BillingProfile
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Parses a percentage into hundredths of a percent. Null for empty text, undefined for an invalid percentage. */
function basisPointsOf(text: string): number | null | undefined {
  const typed = text.trim().replace(',', '.')
  if (typed === '') return null
  if (!/^\d{1,3}(?:\.\d{1,2})?$/.test(typed) || Number(typed) > 100) return undefined
  return Math.round(Number(typed) * perPercent)
}

function EditProfile({ id, profile, onClose, onDone }: EditProps): JSX.Element {
  const w = texts()
  const [recipient, setRecipient] = useState(profile.recipient.join('\n'))
  const [vatNumber, setVatNumber] = useState(profile.vat_number)
  const [reference, setReference] = useState(profile.reference)
  const [rate, setRate] = useState(profile.vat_basis_points === null ? '' : String(profile.vat_basis_points / perPercent))
  const points = basisPointsOf(rate)
  const save = async (): Promise<void> => {
    const lines = recipient.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
    await call('PUT /operator/v1/organizations/{id}/billing-profile', {
      path: { id },
      body: { recipient: lines, vat_number: vatNumber.trim(), reference: reference.trim(), vat_basis_points: points ?? null },
    })
    onClose()
    onDone()
    toast(w.profileSaved)
  }
  return (
    <FormDialog
      title={w.profile}
      submit={allTexts().save}
      needsConfirmation
      isReady={points !== undefined}
      onClose={onClose}
      onSubmit={save}
    >
      {(fault) => (
        <>
          <p class="soft">{w.profileHint}</p>
          <TextField
            label={w.recipient}
            hint={w.recipientHint}
            value={recipient}
            onChange={setRecipient}
            fault={fault?.fields.get('recipient')}
            isLong
          />
          <TextField label={w.vatNumber} value={vatNumber} onChange={setVatNumber} fault={fault?.fields.get('vat_number')} />
          <TextField
            label={w.reference}
            hint={w.referenceHint}
            value={reference}
            onChange={setReference}
            fault={fault?.fields.get('reference')}
          />
          <TextField
            label={w.vatRate}
            hint={w.vatRateHint}
            value={rate}
            onChange={setRate}
            fault={points === undefined ? w.vatWrong : fault?.fields.get('vat_basis_points')}
          />
        </>
      )}
    </FormDialog>
  )
}
