/** Settings of a destination; its host and its other credentials are changed by making a new one. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { toast } from '../parts/toast.tsx'
import { updateDestination, type Destination } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './evidence-words.ts'

interface EditProps {
  readonly destination: Destination
  readonly onClose: () => void
  readonly onDone: () => void
}

const numberOf = (text: string): number | null => (text.trim() === '' ? null : Number(text))
const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

export function EditDestination({ destination, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const [name, setName] = useState(destination.name)
  const [from, setFrom] = useState(destination.from ?? '')
  const [environment, setEnvironment] = useState(destination.environment ?? '')
  const [priority, setPriority] = useState(String(destination.priority))
  const [connections, setConnections] = useState(String(destination.max_connections))
  const [rate, setRate] = useState(destination.max_rate_per_min === null ? '' : String(destination.max_rate_per_min))
  const [password, setPassword] = useState('')
  const hasPassword = 'has_password' in destination.credentials && !('oauth2' in destination.credentials)
  const save = async (): Promise<void> => {
    const body = {
      ...{ name, from: orNull(from), environment: orNull(environment), max_rate_per_min: numberOf(rate) },
      ...{ priority: Number(priority), max_connections: Number(connections) },
      ...(password !== '' && { credentials: { password } }),
    }
    const { warnings } = await call(updateDestination, { path: { id: destination.id }, body })
    toast(warnings[0]?.message ?? w.saved)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.edit} submit={common.save} onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <TextField label={common.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField label={w.from} value={from} onChange={setFrom} fault={fault?.fields.get('from')} />
          <TextField label={common.environment} value={environment} onChange={setEnvironment} fault={fault?.fields.get('environment')} />
          <TextField label={common.priority} type="number" value={priority} onChange={setPriority} fault={fault?.fields.get('priority')} />
          <TextField
            label={w.connections}
            type="number"
            value={connections}
            onChange={setConnections}
            fault={fault?.fields.get('max_connections')}
          />
          <TextField
            label={common.ratePerMinute}
            hint={w.emptyNone}
            type="number"
            value={rate}
            onChange={setRate}
            fault={fault?.fields.get('max_rate_per_min')}
          />
          {hasPassword && (
            <TextField
              label={w.newPassword}
              hint={w.emptyKeeps}
              type="password"
              value={password}
              onChange={setPassword}
              fault={fault?.fields.get('credentials.password')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
