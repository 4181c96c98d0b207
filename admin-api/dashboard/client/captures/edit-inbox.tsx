/** Dialogs that change or delete an inbox. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog, EndDialog, numberOrNull, textOfNumber, textOrNull } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { InboxDetail } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './captures-texts.ts'

interface EditProps {
  readonly inbox: InboxDetail
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditInbox({ inbox, onClose, onDone }: EditProps): JSX.Element {
  const w = texts()
  const begin = { name: inbox.name, url: inbox.notify_webhook_url ?? '', days: textOfNumber(inbox.retention_days) }
  const save = async ({ name, url, days }: typeof begin): Promise<string> => {
    const body = { name, notify_webhook_url: textOrNull(url), retention_days: numberOrNull(days) }
    await call('PATCH /v1/inboxes/{id}', { path: { id: inbox.id }, body })
    return w.inboxSaved
  }
  return (
    <EditDialog title={w.editInbox} begin={begin} onClose={onClose} onSave={save} onDone={onDone}>
      {({ at }) => (
        <>
          <TextField label={allTexts().name} {...at('name')} />
          <TextField label={w.notifies} type="url" placeholder="https://" {...at('url', 'notify_webhook_url')} isMono />
          <TextField label={w.keptDays} hint={w.keptDaysHint} type="number" {...at('days', 'retention_days')} />
        </>
      )}
    </EditDialog>
  )
}

export function EndInbox({ inbox, onClose }: Omit<EditProps, 'onDone'>): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  return (
    <EndDialog
      title={w.endInbox}
      effects={[w.endInboxEffect]}
      name={inbox.address_pattern}
      submit={w.endInbox}
      onClose={onClose}
      onSubmit={async () => {
        await call('DELETE /v1/inboxes/{id}', { path: { id: inbox.id } })
        toast(common.deleted({ name: plain(inbox.address_pattern) }))
        go(link('/captures'))
      }}
    />
  )
}
