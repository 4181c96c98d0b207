/** Form that creates a destination from a hosting preset, a provider API or an SMTP server. It starts in sandbox mode. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField, Dialog, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Show } from '../parts/states.tsx'
import { createDestination, listDestinationPresets, listDestinationProviders, type Provider, type SmtpPreset } from '../wire/operations.ts'
import type { InputOf } from '../wire/operation.ts'
import { texts } from '../texts/texts.ts'

/** A choice of the form. */
interface Kind {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly preset?: SmtpPreset
  readonly provider?: Provider
}

const anyServer = (): Kind => ({ id: 'smtp', name: texts().anySmtpServer, text: texts().anySmtpServerText })

export function NewDestination({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [kind, setKind] = useState<Kind>()
  return kind ? <Settings kind={kind} onClose={onClose} /> : <Kinds onChoose={setKind} onClose={onClose} />
}

function Kinds({ onChoose, onClose }: { readonly onChoose: (kind: Kind) => void; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const presets = useRead(listDestinationPresets, {})
  const providers = useRead(listDestinationProviders, {})
  const [text, setText] = useState('')
  const kinds = [
    anyServer(),
    ...(providers.data?.data ?? [])
      .filter(({ id }) => id !== 'smtp')
      .map((provider): Kind => ({ id: provider.id, name: provider.name, text: 'API', provider })),
    ...(presets.data?.data ?? []).map((preset): Kind => ({
      id: `preset-${preset.id}`,
      name: preset.name,
      text: `SMTP · ${preset.host}`,
      preset,
    })),
  ].filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
  return (
    <Dialog title={w.newDestination} onClose={onClose}>
      <div>
        <h2>{w.newDestination}</h2>
        <p class="lead">{w.stepDestinationText}</p>
        <TextField label={w.findProvider} value={text} onChange={setText} />
        <Show read={presets} reload={presets.reload} failure={w.presetsFailed} rows={4}>
          {() => (
            <ul class="kinds">
              {kinds.map((kind) => (
                <li key={kind.id}>
                  <button type="button" onClick={() => onChoose(kind)}>
                    <b>{kind.name}</b>
                    <span class="cut">{kind.text}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </Show>
        <footer>
          <button class="button quiet" onClick={onClose}>
            {w.cancel}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

type Body = NonNullable<InputOf<typeof createDestination>['body']>

function Settings({ kind, onClose }: { readonly kind: Kind; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const { preset, provider } = kind
  const [name, setName] = useState(preset || provider ? kind.name : '')
  const [values, setValues] = useState<Readonly<Record<string, string>>>(preset?.host_is_template ? { host: preset.host } : {})
  const set = (field: string) => (value: string) => setValues((before) => ({ ...before, [field]: value }))
  const create = async (): Promise<void> => {
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    const { from, ...credentials } = filled
    const body = {
      name,
      provider: provider?.id ?? 'smtp',
      ...(preset && { preset: preset.id }),
      ...(from !== undefined && { from }),
      ...(projectId.value !== undefined && { project_id: projectId.value }),
      credentials: { ...credentials, ...(credentials['port'] !== undefined && { port: Number(credentials['port']) }) },
    }
    const { id } = await call(createDestination, { body: body as Body })
    go(link(`/destinations/${id}`))
  }
  return (
    <FormDialog title={w.newDestinationOf({ name: kind.name })} submit={w.create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          {provider ? (
            <ProviderFields provider={provider} values={values} set={set} fault={fault} />
          ) : (
            <SmtpFields preset={preset} values={values} set={set} fault={fault} />
          )}
          <TextField
            label={w.fromAddress}
            hint={w.fromAddressHint}
            value={values['from'] ?? ''}
            onChange={set('from')}
            fault={fault?.fields.get('from')}
          />
          {preset?.notes.map((note) => (
            <p key={note} class="faint" lang="en">
              {note}
            </p>
          ))}
        </>
      )}
    </FormDialog>
  )
}

interface FieldsProps {
  readonly values: Readonly<Record<string, string>>
  readonly set: (field: string) => (value: string) => void
  readonly fault: ApiFault | undefined
}

function SmtpFields({ preset, values, set, fault }: FieldsProps & { readonly preset: SmtpPreset | undefined }): JSX.Element {
  const w = texts()
  const of = (field: string): string | undefined => fault?.fields.get(`credentials.${field}`)
  return (
    <>
      {(!preset || preset.host_is_template) && (
        <TextField label={w.host} value={values['host'] ?? ''} onChange={set('host')} fault={of('host')} isMono />
      )}
      {!preset && (
        <div class="pair">
          <TextField label={w.port} value={values['port'] ?? ''} onChange={set('port')} fault={of('port')} placeholder="587" />
          <ChooseField
            label={w.security}
            value={values['security'] ?? ''}
            onChange={set('security')}
            fault={of('security')}
            options={[
              ['', w.byPort],
              ['tls', 'TLS'],
              ['starttls', 'STARTTLS'],
              ['none', w.unencrypted],
            ]}
          />
        </div>
      )}
      <TextField
        label={w.username}
        hint={preset?.username}
        value={values['username'] ?? ''}
        onChange={set('username')}
        fault={of('username')}
      />
      <TextField label={w.password} type="password" value={values['password'] ?? ''} onChange={set('password')} fault={of('password')} />
    </>
  )
}

const ProviderFields = ({ provider, values, set, fault }: FieldsProps & { readonly provider: Provider }): JSX.Element => (
  <>
    {provider.credentials
      .filter(({ name }) => name !== 'base_url')
      .map(({ name, required, secret, choices, description }) => {
        const field = {
          label: required ? name : `${name} ${texts().optional}`,
          hint: description,
          fault: fault?.fields.get(`credentials.${name}`),
          value: values[name] ?? '',
          onChange: set(name),
        }
        if (choices)
          return <ChooseField key={name} {...field} options={[['', '–'], ...choices.map((choice) => [choice, choice] as const)]} />
        return <TextField key={name} {...field} type={secret ? 'password' : 'text'} />
      })}
  </>
)
