/** Settings of a form: opening time, allowed origins, spam protection, retention and languages. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Settings } from '#core/forms/definition/definition.ts'
import { call } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import type { PartProps } from '../forms/part-props.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { localInput } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { texts } from './parts-texts.ts'
import { Translations } from './translations.tsx'

interface Part {
  readonly settings: Settings
  readonly set: (changes: Partial<Settings>, place: string) => void
  readonly faultOf: (path: string) => string | undefined
}

export default function SettingsPart({ form, editing, onChanged }: PartProps): JSX.Element {
  const w = texts()
  const { definition, change, check } = editing
  const part: Part = {
    settings: definition.settings,
    set: (changes, place) => change((before) => ({ ...before, settings: { ...before.settings, ...changes } }), `settings ${place}`),
    faultOf: (path) => check.errors.find((one) => one.path.startsWith(path))?.message,
  }
  return (
    <div class="form-sheet" tabIndex={mayChange.value ? undefined : 0} role="group" aria-label={w.texts}>
      <fieldset class="form-parts" disabled={!mayChange.value}>
        <section class="form" aria-label={w.texts}>
          <h2>{w.texts}</h2>
          <TextField
            label={w.submitLabel}
            value={part.settings.submit_label}
            onChange={(label) => part.set({ submit_label: label }, 'label')}
            fault={part.faultOf('settings.submit_label')}
          />
          <TextField
            label={w.locale}
            hint={w.localeHint}
            value={definition.locale}
            onChange={(locale) => change((before) => ({ ...before, locale }), 'locale')}
            fault={part.faultOf('locale')}
            isMono
          />
        </section>
        <Limits {...part} />
        <Guard {...part} form={form} onChanged={onChanged} />
        <Privacy {...part} />
        <Translations editing={editing} />
      </fieldset>
    </div>
  )
}

const numberOf = (text: string): number | null => (text === '' || Number.isNaN(Number(text)) ? null : Number(text))

function Limits({ settings, set, faultOf }: Part): JSX.Element {
  const w = texts()
  return (
    <section class="form" aria-label={w.limits}>
      <h2>{w.limits}</h2>
      <div class="pair">
        <TextField
          label={w.closeAt}
          type="datetime-local"
          value={localInput(settings.close_at)}
          onChange={(at) => set({ close_at: at === '' ? null : new Date(at).toISOString() }, 'close')}
          fault={faultOf('settings.close_at')}
        />
        <TextField
          label={w.most}
          type="number"
          value={String(settings.max_submissions ?? '')}
          onChange={(most) => set({ max_submissions: numberOf(most) }, 'most')}
          fault={faultOf('settings.max_submissions')}
        />
      </div>
      <TextField
        label={w.closedMessage}
        isLong
        value={settings.closed_message}
        onChange={(text) => set({ closed_message: text }, 'closed')}
        fault={faultOf('settings.closed_message')}
      />
      <TextField
        label={w.origins}
        hint={w.originsHint}
        isLong
        value={settings.allowed_origins.join('\n')}
        onChange={(text) => set({ allowed_origins: text.trim() === '' ? [] : text.split('\n').map((line) => line.trim()) }, 'origins')}
        fault={faultOf('settings.allowed_origins')}
      />
    </section>
  )
}

function Guard({ settings, set, faultOf, form, onChanged }: Part & Pick<PartProps, 'form' | 'onChanged'>): JSX.Element {
  const w = texts()
  const [isKeeping, setKeeping] = useState(false)
  const { captcha } = settings
  return (
    <section class="form" aria-label={w.guard}>
      <h2>{w.guard}</h2>
      <TextField
        label={w.minFill}
        hint={w.minFillHint}
        type="number"
        value={String(settings.min_fill_seconds)}
        onChange={(seconds) => set({ min_fill_seconds: numberOf(seconds) ?? 0 }, 'fill')}
        fault={faultOf('settings.min_fill_seconds')}
      />
      <ChooseField
        label={w.captcha}
        value={captcha?.provider ?? ''}
        onChange={(provider) =>
          set(
            { captcha: provider === 'turnstile' || provider === 'hcaptcha' ? { provider, site_key: captcha?.site_key ?? '' } : null },
            'captcha',
          )
        }
        options={[
          ['', w.noCaptcha],
          ['turnstile', 'Turnstile'],
          ['hcaptcha', 'hCaptcha'],
        ]}
      />
      {captcha && (
        <>
          <TextField
            label={w.siteKey}
            value={captcha.site_key}
            onChange={(key) => set({ captcha: { ...captcha, site_key: key } }, 'key')}
            fault={faultOf('settings.captcha.site_key')}
            isMono
          />
          <div class="actions">
            <button type="button" class="button" onClick={() => setKeeping(true)}>
              {w.keepSecret}…
            </button>
            {form.has_captcha_secret && <span class="faint">{w.hasSecret}</span>}
          </div>
        </>
      )}
      {isKeeping && <CaptchaSecret id={form.id} onClose={() => setKeeping(false)} onChanged={onChanged} />}
    </section>
  )
}

interface SecretProps {
  readonly id: string
  readonly onClose: () => void
  readonly onChanged: PartProps['onChanged']
}

function CaptchaSecret({ id, onClose, onChanged }: SecretProps): JSX.Element {
  const w = texts()
  const [secret, setSecret] = useState('')
  const keep = async (): Promise<void> => {
    onChanged(await call('PUT /v1/forms/{id}/captcha-secret', { path: { id }, body: { secret: secret === '' ? null : secret } }))
    onClose()
    toast(w.secretKept)
  }
  return (
    <FormDialog title={w.secret} submit={w.keepSecret} onClose={onClose} onSubmit={keep}>
      {(fault) => (
        <TextField
          label={w.secret}
          hint={w.secretHint}
          type="password"
          value={secret}
          onChange={setSecret}
          fault={fault?.fields.get('secret')}
        />
      )}
    </FormDialog>
  )
}

function Privacy({ settings, set, faultOf }: Part): JSX.Element {
  const w = texts()
  return (
    <section class="form" aria-label={w.privacy}>
      <h2>{w.privacy}</h2>
      <TextField
        label={w.retention}
        hint={w.retentionHint}
        type="number"
        value={String(settings.retention_days ?? '')}
        onChange={(days) => set({ retention_days: numberOf(days) }, 'retention')}
        fault={faultOf('settings.retention_days')}
      />
      <ChooseField
        label={w.storeIp}
        value={settings.store_ip}
        onChange={(kept) => set({ store_ip: kept as Settings['store_ip'] }, '')}
        options={Object.entries(w.ips)}
      />
    </section>
  )
}
