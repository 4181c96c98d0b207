/** Form that creates a bounce source and shows its signing secret once. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { query } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { providers, type Provider } from './install.ts'
import { texts } from './sources-texts.ts'

/** Server kinds that can also report by a mailbox. */
const inMailbox: ReadonlySet<Provider> = new Set(['postfix', 'dovecot'])

interface NewProps {
  readonly onClose: () => void
  readonly onDone: () => void
}

export function NewSource({ onClose, onDone }: NewProps): JSX.Element {
  const w = texts()
  const [provider, setProvider] = useState<Provider>(() => providers.find(([id]) => id === query.value.get('provider'))?.[0] ?? 'postfix')
  const [label, setLabel] = useState('')
  const [isPolled, setPolled] = useState(false)
  const [mailbox, setMailbox] = useState<Mailbox>({ host: '', port: '993', username: '', password: '', mailbox: 'INBOX', interval: '60' })
  const [secret, setSecret] = useState<Secret>()
  const polls = isPolled && inMailbox.has(provider)
  const create = async (): Promise<void> => {
    const { interval, port, ...rest } = mailbox
    const imap = polls ? { imap_config: { ...rest, port: Number(port), poll_interval_seconds: Number(interval) } } : {}
    const made = await call('POST /v1/ingest-sources', { body: { provider, ...(label !== '' && { label }), ...imap } })
    onDone()
    setSecret({
      title: w.secretTitle({ name: plain(made.label || provider) }),
      fields: [['hmac_secret', made.hmac_secret]],
      note: w.secretNote,
    })
  }
  if (secret) return <SecretDialog secret={secret} onDone={onClose} />
  return (
    <FormDialog title={w.newSource} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <ChooseField
            label={w.provider}
            value={provider}
            onChange={(next) => setProvider(next as Provider)}
            options={providers}
            hint={w.providers[provider]}
            fault={fault?.fields.get('provider')}
          />
          <TextField label={w.label} hint={w.labelHint} value={label} onChange={setLabel} fault={fault?.fields.get('label')} />
          {inMailbox.has(provider) && (
            <label class="check">
              <input type="checkbox" checked={isPolled} onChange={(event) => setPolled(event.currentTarget.checked)} />
              {w.asMailbox}
            </label>
          )}
          {polls && <MailboxFields mailbox={mailbox} onChange={setMailbox} fields={fault?.fields} />}
        </>
      )}
    </FormDialog>
  )
}

interface Mailbox {
  readonly host: string
  readonly port: string
  readonly username: string
  readonly password: string
  readonly mailbox: string
  readonly interval: string
}

interface MailboxProps {
  readonly mailbox: Mailbox
  readonly onChange: (mailbox: Mailbox) => void
  readonly fields: ReadonlyMap<string, string> | undefined
}

function MailboxFields({ mailbox, onChange, fields }: MailboxProps): JSX.Element {
  const w = texts()
  const field = (name: keyof Mailbox, label: string, type: 'text' | 'password' | 'number' = 'text'): JSX.Element => (
    <TextField
      label={label}
      type={type}
      value={mailbox[name]}
      onChange={(value) => onChange({ ...mailbox, [name]: value })}
      fault={fields?.get(`imap_config.${name === 'interval' ? 'poll_interval_seconds' : name}`)}
    />
  )
  return (
    <>
      <div class="pair">
        {field('host', w.host)}
        {field('port', w.port, 'number')}
      </div>
      <div class="pair">
        {field('username', w.username)}
        {field('password', w.password, 'password')}
      </div>
      <div class="pair">
        {field('mailbox', w.mailbox)}
        {field('interval', w.interval, 'number')}
      </div>
    </>
  )
}
