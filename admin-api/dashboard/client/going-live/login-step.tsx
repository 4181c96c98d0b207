/** Step 2 of going live: the login of the provider. Creates the destination in the sandbox, or changes an existing one. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { boot } from '../app/boot.ts'
import { go, link, projectId } from '../app/location.ts'
import { asFault, useRead } from '../app/query.ts'
import { ChooseField, TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Show, State } from '../parts/states.tsx'
import type { Destination, Provider } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Flow } from './flow.tsx'
import { texts } from './going-live-texts.ts'
import { kindOf, kindsOf, type Kind } from './kinds.ts'

type Values = Readonly<Record<string, string>>

/** Values typed in this window by destination, so that a refused login can be corrected. They are never stored. */
const typed = new Map<string, Values>()

/** Returns the values that were typed for a destination in this window. */
export const typedFor = (id: string): Values | undefined => typed.get(id)

/** Keeps values for the form of a destination. */
export const keepTyped = (id: string, values: Values): void => void typed.set(id, { ...typed.get(id), ...values })

interface LoginStepProps {
  /** Choice of step 1. Omitted for an existing destination. */
  readonly kindId?: string
  readonly destination?: Destination
  /** Why the form appears again. */
  readonly problem?: ComponentChildren
  /** Called after a change of the destination. */
  readonly onSaved?: (() => void) | undefined
}

export function LoginStep({ kindId, destination, problem, onSaved }: LoginStepProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const presets = useRead('/v1/destinations/presets', {})
  const providers = useRead('/v1/destinations/providers', {})
  const read = presets.state === 'ready' && providers.state === 'failed' ? { state: 'failed' as const, fault: providers.fault } : presets
  const reload = (): void => {
    presets.reload()
    providers.reload()
  }
  const kinds = presets.data && providers.data ? kindsOf(presets.data.data, providers.data.data) : undefined
  const kind = kinds && (destination ? (kindOf(destination, kinds) ?? kinds.at(-1)) : kinds.find(({ id }) => id === kindId))
  return (
    <Flow step={2} results={kind ? { 1: kind.name } : {}} destination={destination}>
      <section aria-labelledby="login">
        <Show read={kinds || read.state === 'failed' ? read : { state: 'loading' }} reload={reload} failure={common.presetsFailed} rows={4}>
          {() =>
            kind ? (
              <LoginForm key={kind.id} {...{ kind, destination, problem, onSaved }} />
            ) : (
              <State title={w.unknownProvider}>
                <a class="button" href={link('/destinations/new')}>
                  {w.chooseAnother}
                </a>
              </State>
            )
          }
        </Show>
      </section>
    </Flow>
  )
}

interface LoginFormProps extends Omit<LoginStepProps, 'kindId' | 'destination'> {
  readonly kind: Kind
  readonly destination: Destination | undefined
}

/** Returns the stored values of a destination, without secrets. */
function stored({ name, from, credentials }: Destination): Values {
  const texts = Object.entries(credentials).flatMap(([field, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[field, String(value)] as const] : [],
  )
  return { ...Object.fromEntries(texts), name, from: from ?? '' }
}

const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text)

/** Returns the request that saves the form, and the address that follows. Throws `ApiFault`. */
async function save({ kind, destination, onSaved }: LoginFormProps, values: Values): Promise<string> {
  const { name = '', from = '', ...rest } = values
  const before = destination && stored(destination)
  const sender = from.trim() !== '' ? from.trim() : isAddress(rest['username'] ?? '') ? rest['username'] : undefined
  const filled = Object.fromEntries(Object.entries(rest).filter(([field, value]) => value !== '' && value !== before?.[field]))
  const credentials = { ...filled, ...(filled['port'] !== undefined && { port: Number(filled['port']) }) }
  const settings = { name: name.trim() === '' ? kind.name : name, ...(sender !== undefined && { from: sender }) }
  if (destination) {
    const changes = { ...settings, ...(Object.keys(credentials).length > 0 && { credentials }) }
    keepTyped(destination.id, values)
    await call('PATCH /v1/destinations/{id}', { path: { id: destination.id }, body: changes })
    onSaved?.()
    return `/destinations/${destination.id}/go-live`
  }
  const body = {
    ...{ ...settings, provider: kind.provider?.id ?? 'smtp', credentials },
    ...(kind.preset && { preset: kind.preset.id }),
    ...(projectId.value !== undefined && { project_id: projectId.value }),
  }
  const { id } = await call('POST /v1/destinations', { body: body as NonNullable<Input<'POST /v1/destinations'>['body']> })
  keepTyped(id, values)
  return `/destinations/${id}/go-live`
}

function LoginForm(props: LoginFormProps): JSX.Element {
  const { kind, destination, problem } = props
  const [w, common] = [texts(), allTexts()]
  const { preset, provider } = kind
  const [values, setValues] = useState<Values>(() => ({
    ...(destination
      ? stored(destination)
      : { name: kind.name, ...(preset && { host: preset.host, port: String(preset.port), security: preset.security }) }),
    ...(destination && typedFor(destination.id)),
  }))
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const at: At = (field) => ({
    value: values[field] ?? '',
    onChange: (value: string) => setValues((all) => ({ ...all, [field]: value })),
    fault: fault?.fields.get(field === 'name' || field === 'from' ? field : `credentials.${field}`),
  })
  const submit = async (): Promise<void> => {
    setFault(undefined)
    try {
      go(link(await save(props, values)), { replaces: true })
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <>
      <div class="say">
        {problem ?? (
          <>
            <h2 id="login">{w.loginOf({ name: kind.name })}</h2>
            <p>{w.loginText}</p>
          </>
        )}
      </div>
      <form
        class="form block"
        onSubmit={(event) => {
          event.preventDefault()
          start(submit)
        }}
      >
        {provider ? <ProviderFields provider={provider} at={at} /> : <SmtpFields kind={kind} at={at} />}
        <TextField label={common.fromAddress} hint={w.fromHint} {...at('from')} placeholder={boot.email} />
        <Connection kind={kind} at={at} />
        {preset?.notes.map((note) => (
          <p key={note} class="faint" lang="en">
            {note}
          </p>
        ))}
        <Fault fault={fault} />
        <div class="actions">
          <button class="button primary" aria-disabled={isBusy}>
            {isBusy ? w.checkingShort : w.saveAndCheck}
          </button>
          <a class="button quiet" href={link(destination ? `/destinations/${destination.id}` : '/destinations/new')}>
            {common.back}
          </a>
        </div>
      </form>
    </>
  )
}

/** Name, host and port. Folded, because presets and APIs know them. */
function Connection({ kind: { preset, provider }, at }: { readonly kind: Kind; readonly at: At }): JSX.Element {
  const common = allTexts()
  const isFaulty = ['name', 'host', 'port', 'security'].some((field) => at(field).fault !== undefined)
  return (
    <details open={(!preset && !provider) || isFaulty ? true : undefined}>
      <summary>{texts().connection}</summary>
      <TextField label={common.name} {...at('name')} />
      {!provider && (
        <>
          {!(preset?.host_is_template ?? false) && <TextField label={common.host} {...at('host')} isMono />}
          <div class="pair">
            <TextField label={common.port} {...at('port')} placeholder="587" />
            <ChooseField
              label={common.security}
              {...at('security')}
              options={[
                ['', common.byPort],
                ['tls', 'TLS'],
                ['starttls', 'STARTTLS'],
                ['none', common.unencrypted],
              ]}
            />
          </div>
        </>
      )}
    </details>
  )
}

type At = (field: string) => { readonly value: string; readonly onChange: (value: string) => void; readonly fault: string | undefined }

function SmtpFields({ kind: { preset }, at }: { readonly kind: Kind; readonly at: At }): JSX.Element {
  const w = allTexts()
  return (
    <>
      {preset?.host_is_template && <TextField label={w.host} {...at('host')} isMono />}
      {preset?.auth.length !== 0 && (
        <>
          <TextField label={w.username} hint={preset?.username} {...at('username')} />
          <TextField label={w.password} type="password" {...at('password')} />
        </>
      )}
    </>
  )
}

const ProviderFields = ({ provider, at }: { readonly provider: Provider; readonly at: At }): JSX.Element => (
  <>
    {provider.credentials
      .filter(({ name }) => name !== 'base_url')
      .map(({ name, required, secret, choices, description }) => {
        const field = { label: required ? name : `${name} ${allTexts().optional}`, hint: description, ...at(name) }
        if (choices)
          return <ChooseField key={name} {...field} options={[['', '–'], ...choices.map((choice) => [choice, choice] as const)]} />
        return <TextField key={name} {...field} type={secret ? 'password' : 'text'} />
      })}
  </>
)
