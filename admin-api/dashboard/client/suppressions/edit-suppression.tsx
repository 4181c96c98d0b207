/** Forms that add a suppression, and that change its reason and expiry. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { go, linkHere } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog, textOrNull } from '../parts/forms.tsx'
import { localInput } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { Suppression } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './suppressions-texts.ts'

const close = (): void => go(linkHere({ new: '', edit: '' }), { replaces: true })

/** Returns invalid times as text, so that the service rejects them and the field shows its error. */
const timeOf = (typed: string): string | null =>
  typed === '' ? null : Number.isNaN(Date.parse(typed)) ? typed : new Date(typed).toISOString()

interface Control {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly fault: string | undefined
}

const WhyFields = ({ reason, until }: { readonly reason: Control; readonly until: Control }): JSX.Element => (
  <>
    <TextField label={allTexts().reason} {...reason} />
    <TextField label={texts().until} hint={texts().untilHint} type="datetime-local" {...until} />
  </>
)

export function NewSuppression({ onDone }: { readonly onDone: () => void }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const begin = { email: '', reason: '', until: '' }
  const create = async ({ email, reason, until }: typeof begin): Promise<undefined> => {
    const { id } = await call('POST /v1/suppressions', { body: { email, reason: textOrNull(reason), expires_at: timeOf(until) } })
    toast(common.suppressedNow({ email }), () => void call('DELETE /v1/suppressions/{id}', { path: { id } }).then(onDone))
    return undefined
  }
  return (
    <EditDialog title={w.suppressOne} submit={w.suppressOne} begin={begin} onClose={close} onSave={create} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={common.address} {...at('email')} />
          <WhyFields reason={at('reason')} until={at('until', 'expires_at')} />
        </>
      )}
    </EditDialog>
  )
}

export function EditSuppression({ row, onDone }: { readonly row: Suppression; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const begin = { reason: row.reason ?? '', until: localInput(row.expires_at) }
  const save = async ({ reason, until }: typeof begin): Promise<string> => {
    // the control has no seconds, so an unchanged time is not sent
    const body = { reason: textOrNull(reason), ...(until !== begin.until && { expires_at: timeOf(until) }) }
    await call('PATCH /v1/suppressions/{id}', { path: { id: row.id }, body })
    return w.changed({ email: row.email })
  }
  return (
    <EditDialog title={w.changeNamed({ email: row.email })} begin={begin} onClose={close} onSave={save} onDone={onDone}>
      {({ at }) => <WhyFields reason={at('reason')} until={at('until', 'expires_at')} />}
    </EditDialog>
  )
}
