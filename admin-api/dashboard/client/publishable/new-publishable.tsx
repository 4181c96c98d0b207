/** Form that creates a publishable key with its gates. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import type { PublishableKey } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './publishable-texts.ts'

type Captcha = NonNullable<PublishableKey['captcha_provider']>
type Preset = PublishableKey['rate_preset']

interface NewProps {
  readonly onClose: () => void
  readonly onSecret: (secret: Secret) => void
}

const lines = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

export function NewPublishable({ onClose, onSecret }: NewProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [name, setName] = useState('')
  const [origins, setOrigins] = useState('')
  const [to, setTo] = useState('')
  const [from, setFrom] = useState('')
  const [rate, setRate] = useState<Preset>('normal')
  const [captcha, setCaptcha] = useState<Captcha | ''>('')
  const [siteKey, setSiteKey] = useState('')
  const [secret, setSecret] = useState('')
  const create = async (): Promise<void> => {
    const guard = captcha === '' ? {} : { captcha_provider: captcha, captcha_site_key: siteKey, captcha_secret: secret }
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const gates = { allowed_origins: lines(origins), allowed_to: lines(to), locked_from: from.trim(), rate_preset: rate }
    const made = await call('POST /v1/publishable-keys', { body: { ...gates, ...guard, ...project, ...(name !== '' && { name }) } })
    onSecret({
      title: common.secretOf({ name: made.name || made.key_preview }),
      fields: [['publishable_key', made.raw_token ?? '']],
      note: w.publishableNote,
    })
  }
  return (
    <FormDialog title={common.sections.newBrowserKey} submit={common.create} needsConfirmation onClose={onClose} onSubmit={create}>
      {(fault) => {
        const faultOf = (field: string): string | undefined => [...(fault?.fields ?? [])].find(([path]) => path.startsWith(field))?.[1]
        return (
          <>
            <TextField label={common.name} value={name} onChange={setName} fault={faultOf('name')} />
            <TextField
              label={w.origins}
              hint={w.originsHint}
              value={origins}
              onChange={setOrigins}
              isLong
              fault={faultOf('allowed_origins')}
            />
            <TextField label={w.recipients} hint={w.recipientsHint} value={to} onChange={setTo} isLong fault={faultOf('allowed_to')} />
            <TextField label={w.sender} value={from} onChange={setFrom} fault={faultOf('locked_from')} />
            <ChooseField
              label={w.rate}
              value={rate}
              onChange={(next) => setRate(next as Preset)}
              options={(['strict', 'normal', 'loose'] as const).map((one) => [one, w[one]] as const)}
            />
            <ChooseField
              label={w.captcha}
              value={captcha}
              onChange={(next) => setCaptcha(next as Captcha | '')}
              options={[
                ['', w.noCaptcha],
                ['turnstile', 'Turnstile'],
                ['hcaptcha', 'hCaptcha'],
              ]}
            />
            {captcha !== '' && (
              <>
                <TextField label={w.siteKey} value={siteKey} onChange={setSiteKey} isMono fault={faultOf('captcha_site_key')} />
                <TextField label={w.captchaSecret} type="password" value={secret} onChange={setSecret} fault={faultOf('captcha_secret')} />
              </>
            )}
          </>
        )
      }}
    </FormDialog>
  )
}
