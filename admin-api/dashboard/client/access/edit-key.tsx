/** The name of an API key and until when it works; what it may do stays. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import { longTime } from '../parts/time.ts'
import { updateApiKey, type ApiKey } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './access-words.ts'

interface EditKeyProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onDone: () => void
}

interface Draft extends Readonly<Record<string, unknown>> {
  readonly name: string
  /** In days from now; `kept` leaves it as it is. */
  readonly expires: string
}

function bodyOf({ name, expires }: Draft): { name: string; expires_at?: string | null } {
  if (expires === 'kept') return { name }
  if (expires === 'never') return { name, expires_at: null }
  return { name, expires_at: new Date(Date.now() + Number(expires) * 86_400_000).toISOString() }
}

export function EditKey({ apiKey, onClose, onDone }: EditKeyProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const now = apiKey.expires_at === null ? common.never : longTime(apiKey.expires_at)
  const save = async (draft: Draft): Promise<string> => {
    await call(updateApiKey, { path: { id: apiKey.id }, body: bodyOf(draft) })
    return w.keySaved
  }
  const begin: Draft = { name: apiKey.name, expires: 'kept' }
  return (
    <EditDialog title={w.editKey} begin={begin} onClose={onClose} onSave={save} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={common.name} hint={common.keyNameHint} {...at('name')} />
          <ChooseField
            label={common.expires}
            {...at('expires', 'expires_at')}
            options={[
              ['kept', w.asItIs(now)],
              ...(apiKey.expires_at === null ? [] : [['never', common.never] as const]),
              ...[30, 90, 365].map((days) => [String(days), common.inDays(days)] as const),
            ]}
          />
          <p class="faint">{w.editKeyText}</p>
        </>
      )}
    </EditDialog>
  )
}
