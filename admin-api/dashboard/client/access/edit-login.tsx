/** Settings of an SMTP login; its name and password are changed by rotating it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { updateSmtpCredential, type SmtpCredential } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './access-words.ts'

interface EditProps {
  readonly login: SmtpCredential
  readonly destinations: ReadonlyMap<string, string>
  readonly onClose: () => void
  readonly onDone: () => void
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))
const textOf = (value: number | null): string => (value === null ? '' : String(value))

/** What is typed, as text. */
const draftOf = (login: SmtpCredential) => ({
  label: login.label,
  domains: login.allowed_from_domains.join(', '),
  isEnforced: login.enforce_header_from,
  destination: login.default_destination_id ?? '',
  rate: textOf(login.max_rate_per_min),
  bytes: textOf(login.max_message_bytes),
  until: login.expires_at?.slice(0, 10) ?? '',
  clicks: login.click_tracking_enabled,
  opens: login.open_tracking_enabled,
})
type Draft = ReturnType<typeof draftOf>

/** Tracking is left out where it stays, as not every plan has it. */
const bodyOf = (login: SmtpCredential, draft: Draft) => ({
  label: draft.label,
  allowed_from_domains: draft.domains.split(/[\s,]+/).filter(Boolean),
  enforce_header_from: draft.isEnforced,
  ...((draft.destination !== '' || login.environment === null) && { default_destination_id: draft.destination || null }),
  max_rate_per_min: numberOf(draft.rate),
  max_message_bytes: numberOf(draft.bytes),
  expires_at: draft.until === '' ? null : `${draft.until}T00:00:00Z`,
  ...(draft.clicks !== login.click_tracking_enabled && { click_tracking_enabled: draft.clicks }),
  ...(draft.opens !== login.open_tracking_enabled && { open_tracking_enabled: draft.opens }),
})

export function EditLogin({ login, destinations, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const [draft, setDraft] = useState(() => draftOf(login))
  const set =
    <N extends keyof Draft>(name: N) =>
    (value: Draft[N]): void =>
      setDraft((before) => ({ ...before, [name]: value }))
  const save = async (): Promise<void> => {
    await call(updateSmtpCredential, { path: { id: login.id }, body: bodyOf(login, draft) })
    toast(w.saved)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.edit} submit={common.save} onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <TextField label={common.name} value={draft.label} onChange={set('label')} fault={fault?.fields.get('label')} />
          <TextField
            label={common.fromDomains}
            hint={common.fromDomainsHint}
            value={draft.domains}
            onChange={set('domains')}
            fault={fault?.fields.get('allowed_from_domains')}
          />
          <Check label={w.headerFrom} isOn={draft.isEnforced} onChange={set('isEnforced')} />
          <ChooseField
            label={common.destination}
            value={draft.destination}
            onChange={set('destination')}
            options={[
              ['', login.environment === null ? common.byRoute : plain(login.environment)] as const,
              ...[...destinations].map(([id, name]) => [id, plain(name)] as const),
            ]}
          />
          <Limits draft={draft} set={set} fault={fault} />
          <Check label={w.clicks} isOn={draft.clicks} onChange={set('clicks')} />
          <Check label={w.opens} isOn={draft.opens} onChange={set('opens')} />
          <p class="faint">{w.trackingHint}</p>
        </>
      )}
    </FormDialog>
  )
}

interface LimitsProps {
  readonly draft: Draft
  readonly set: (name: 'rate' | 'bytes' | 'until') => (value: string) => void
  readonly fault: ApiFault | undefined
}

function Limits({ draft, set, fault }: LimitsProps): JSX.Element {
  const w = words()
  return (
    <>
      <TextField
        label={allWords().ratePerMinute}
        hint={w.emptyNone}
        type="number"
        value={draft.rate}
        onChange={set('rate')}
        fault={fault?.fields.get('max_rate_per_min')}
      />
      <TextField
        label={w.sizeBytes}
        hint={w.emptyNone}
        type="number"
        value={draft.bytes}
        onChange={set('bytes')}
        fault={fault?.fields.get('max_message_bytes')}
      />
      <TextField
        label={w.until}
        hint={w.emptyNever}
        placeholder="2027-12-31"
        value={draft.until}
        onChange={set('until')}
        fault={fault?.fields.get('expires_at')}
        isMono
      />
    </>
  )
}

interface CheckProps {
  readonly label: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

const Check = ({ label, isOn, onChange }: CheckProps): JSX.Element => (
  <label class="check">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)
