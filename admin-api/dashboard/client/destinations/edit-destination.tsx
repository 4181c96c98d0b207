/** Form for the settings of a destination, including the server of an SMTP destination. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, numberOrNull, textOfNumber, textOrNull } from '../parts/forms.tsx'
import type { Destination } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './evidence-texts.ts'

interface EditProps {
  readonly destination: Destination
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Form values of the server. Empty for other providers. */
const serverOf = ({ credentials: { host, port, security } }: Destination) => ({
  ...{ host: String(host ?? ''), port: String(port ?? ''), security: String(security ?? '') },
})

const begin = (destination: Destination) => ({
  ...serverOf(destination),
  ...{ name: destination.name, from: destination.from ?? '', environment: destination.environment ?? '' },
  ...{ priority: String(destination.priority), connections: String(destination.max_connections) },
  ...{ rate: textOfNumber(destination.max_rate_per_min), password: '' },
})

const kinds = ['tls', 'starttls', 'none'] as const
const securityOf = (chosen: string): (typeof kinds)[number] => kinds.find((one) => one === chosen) ?? 'tls'
const securities = (none: string) => [...kinds.slice(0, 2).map((one) => [one, one.toUpperCase()] as const), ['none', none] as const]

export function EditDestination({ destination, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const hasPassword = 'has_password' in destination.credentials && !('oauth2' in destination.credentials)
  const save = async (draft: ReturnType<typeof begin>): Promise<string> => {
    const before = serverOf(destination)
    const credentials = {
      ...(draft.host.trim() !== before.host && { host: draft.host.trim() }),
      ...(draft.port !== before.port && { port: Number(draft.port) }),
      ...(draft.security !== before.security && { security: securityOf(draft.security) }),
      ...(draft.password !== '' && { password: draft.password }),
    }
    const body = {
      ...{ name: draft.name, from: textOrNull(draft.from), environment: textOrNull(draft.environment) },
      ...{ priority: Number(draft.priority), max_connections: Number(draft.connections), max_rate_per_min: numberOrNull(draft.rate) },
      ...(Object.keys(credentials).length > 0 && { credentials }),
    }
    const { warnings } = await call('PATCH /v1/destinations/{id}', { path: { id: destination.id }, body })
    return warnings[0]?.message ?? w.saved
  }
  return (
    <EditDialog title={w.edit} begin={begin(destination)} onClose={onClose} onSave={save} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={common.name} {...at('name')} />
          <TextField label={w.from} {...at('from')} />
          <TextField label={common.environment} {...at('environment')} />
          <TextField label={common.priority} type="number" {...at('priority')} />
          <TextField label={w.connections} type="number" {...at('connections', 'max_connections')} />
          <TextField label={common.ratePerMinute} hint={w.emptyNone} type="number" {...at('rate', 'max_rate_per_min')} />
          {'host' in destination.credentials && (
            <>
              <TextField label={common.host} hint={w.serverHint} {...at('host', 'credentials.host')} isMono />
              <TextField label={common.port} type="number" {...at('port', 'credentials.port')} />
              <ChooseField label={common.security} options={securities(common.unencrypted)} {...at('security', 'credentials.security')} />
            </>
          )}
          {hasPassword && (
            <TextField label={w.newPassword} hint={w.emptyKeeps} type="password" {...at('password', 'credentials.password')} />
          )}
        </>
      )}
    </EditDialog>
  )
}
