/** Form for the name, the expiry and the failure notices of an API key. The permissions of a key cannot change. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import { longTime } from '../parts/time.ts'
import type { ApiKey } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './access-texts.ts'
import { noticeBodyOf, noticeDraftOf, NoticeFields, noticesToday } from './notice-fields.tsx'

interface EditKeyProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Form values. `expires` is a number of days from now, or `kept` for no change. */
const draftOf = (apiKey: ApiKey) => ({ name: apiKey.name, expires: 'kept', ...noticeDraftOf(apiKey) })
type Draft = ReturnType<typeof draftOf>

function expiryIn(expires: string): { expires_at?: string | null } {
  if (expires === 'kept') return {}
  if (expires === 'never') return { expires_at: null }
  return { expires_at: new Date(Date.now() + Number(expires) * 86_400_000).toISOString() }
}

const bodyOf = (apiKey: ApiKey, draft: Draft) => ({
  name: draft.name,
  ...expiryIn(draft.expires),
  ...noticeBodyOf(apiKey, draft),
})

export function EditKey({ apiKey, onClose, onDone }: EditKeyProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const now = apiKey.expires_at === null ? common.never : longTime(apiKey.expires_at)
  const save = async (draft: Draft): Promise<string> => {
    await call('PATCH /v1/api-keys/{id}', { path: { id: apiKey.id }, body: bodyOf(apiKey, draft) })
    return w.keySaved
  }
  return (
    <EditDialog title={w.editKey} begin={draftOf(apiKey)} onClose={onClose} onSave={save} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={common.name} hint={common.keyNameHint} {...at('name')} />
          <ChooseField
            label={common.expires}
            {...at('expires', 'expires_at')}
            options={[
              ['kept', w.asItIs({ when: now })],
              ...(apiKey.expires_at === null ? [] : [['never', common.never] as const]),
              ...[30, 90, 365].map((days) => [String(days), common.inDays({ days })] as const),
            ]}
          />
          {apiKey.send_only && (
            <>
              <NoticeFields notices={at('notices', 'failure_notices')} to={at('noticeTo', 'failure_notice_to')} />
              <p class="faint">
                {w.noticesToday}: {noticesToday(apiKey.failure_notices_today)}
              </p>
            </>
          )}
          <p class="faint">{w.editKeyText}</p>
        </>
      )}
    </EditDialog>
  )
}
