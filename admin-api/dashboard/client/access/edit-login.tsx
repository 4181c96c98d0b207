/** Form for the settings of an SMTP login. Only a rotation changes its name and password. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, numberOrNull, textOfNumber } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { SmtpCredential } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './access-texts.ts'
import { noticeBodyOf, noticeDraftOf, NoticeFields } from './notice-fields.tsx'

interface EditProps {
  readonly login: SmtpCredential
  readonly destinations: ReadonlyMap<string, string>
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Form values as text. */
const draftOf = (login: SmtpCredential) => ({
  label: login.label,
  domains: login.allowed_from_domains.join(', '),
  isEnforced: login.enforce_header_from,
  destination: login.default_destination_id ?? '',
  rate: textOfNumber(login.max_rate_per_min),
  bytes: textOfNumber(login.max_message_bytes),
  until: login.expires_at?.slice(0, 10) ?? '',
  clicks: login.click_tracking_enabled,
  opens: login.open_tracking_enabled,
  ...noticeDraftOf(login),
})
type Draft = ReturnType<typeof draftOf>

/** Omits unchanged tracking settings, because not every plan includes tracking. */
const bodyOf = (login: SmtpCredential, draft: Draft) => ({
  label: draft.label,
  allowed_from_domains: draft.domains.split(/[\s,]+/).filter(Boolean),
  enforce_header_from: draft.isEnforced,
  ...((draft.destination !== '' || login.environment === null) && { default_destination_id: draft.destination || null }),
  max_rate_per_min: numberOrNull(draft.rate),
  max_message_bytes: numberOrNull(draft.bytes),
  expires_at: draft.until === '' ? null : `${draft.until}T00:00:00Z`,
  ...noticeBodyOf(login, draft),
  ...(draft.clicks !== login.click_tracking_enabled && { click_tracking_enabled: draft.clicks }),
  ...(draft.opens !== login.open_tracking_enabled && { open_tracking_enabled: draft.opens }),
})

export function EditLogin({ login, destinations, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const save = async (draft: Draft): Promise<string> => {
    await call('PATCH /v1/smtp-credentials/{id}', { path: { id: login.id }, body: bodyOf(login, draft) })
    return w.saved
  }
  return (
    <EditDialog title={w.edit} begin={draftOf(login)} onClose={onClose} onSave={save} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={common.name} {...at('label')} />
          <TextField label={common.fromDomains} hint={common.fromDomainsHint} {...at('domains', 'allowed_from_domains')} />
          <Check label={w.headerFrom} {...at('isEnforced')} />
          <ChooseField
            label={common.destination}
            {...at('destination')}
            options={[
              ['', login.environment === null ? common.byRoute : plain(login.environment)] as const,
              ...[...destinations].map(([id, name]) => [id, plain(name)] as const),
            ]}
          />
          <TextField label={common.ratePerMinute} hint={w.emptyNone} type="number" {...at('rate', 'max_rate_per_min')} />
          <TextField label={w.sizeBytes} hint={w.emptyNone} type="number" {...at('bytes', 'max_message_bytes')} />
          <TextField label={w.until} hint={w.emptyNever} placeholder="2027-12-31" {...at('until', 'expires_at')} isMono />
          <Check label={w.clicks} {...at('clicks')} />
          <Check label={w.opens} {...at('opens')} />
          <p class="faint">{w.trackingHint}</p>
          <NoticeFields notices={at('notices', 'failure_notices')} to={at('noticeTo', 'failure_notice_to')} />
        </>
      )}
    </EditDialog>
  )
}

interface CheckProps {
  readonly label: string
  readonly value: boolean
  readonly onChange: (isOn: boolean) => void
}

const Check = ({ label, value, onChange }: CheckProps): JSX.Element => (
  <label class="check">
    <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)
