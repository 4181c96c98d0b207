/** Settings of a destination; its host and its other credentials are changed by making a new one. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog, numberOrNull, textOfNumber, textOrNull } from '../parts/forms.tsx'
import { updateDestination, type Destination } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './evidence-words.ts'

interface EditProps {
  readonly destination: Destination
  readonly onClose: () => void
  readonly onDone: () => void
}

const begin = (destination: Destination) => ({
  ...{ name: destination.name, from: destination.from ?? '', environment: destination.environment ?? '' },
  ...{ priority: String(destination.priority), connections: String(destination.max_connections) },
  ...{ rate: textOfNumber(destination.max_rate_per_min), password: '' },
})

export function EditDestination({ destination, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const hasPassword = 'has_password' in destination.credentials && !('oauth2' in destination.credentials)
  const save = async (draft: ReturnType<typeof begin>): Promise<string> => {
    const body = {
      ...{ name: draft.name, from: textOrNull(draft.from), environment: textOrNull(draft.environment) },
      ...{ priority: Number(draft.priority), max_connections: Number(draft.connections), max_rate_per_min: numberOrNull(draft.rate) },
      ...(draft.password !== '' && { credentials: { password: draft.password } }),
    }
    const { warnings } = await call(updateDestination, { path: { id: destination.id }, body })
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
          {hasPassword && (
            <TextField label={w.newPassword} hint={w.emptyKeeps} type="password" {...at('password', 'credentials.password')} />
          )}
        </>
      )}
    </EditDialog>
  )
}
