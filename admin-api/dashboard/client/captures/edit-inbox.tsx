/** Changes an inbox, or ends it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { deleteInbox, updateInbox, type InboxDetail } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './captures-words.ts'

interface EditProps {
  readonly inbox: InboxDetail
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditInbox({ inbox, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const [name, setName] = useState(inbox.name)
  const [url, setUrl] = useState(inbox.notify_webhook_url ?? '')
  const [days, setDays] = useState(inbox.retention_days === null ? '' : String(inbox.retention_days))
  const save = async (): Promise<void> => {
    const body = {
      name,
      notify_webhook_url: url.trim() === '' ? null : url.trim(),
      retention_days: days.trim() === '' ? null : Number(days),
    }
    await call(updateInbox, { path: { id: inbox.id }, body })
    toast(w.inboxSaved)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.editInbox} submit={common.save} onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <TextField label={common.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField
            label={w.notifies}
            type="url"
            placeholder="https://"
            value={url}
            onChange={setUrl}
            fault={fault?.fields.get('notify_webhook_url')}
            isMono
          />
          <TextField
            label={w.keptDays}
            hint={w.keptDaysHint}
            type="number"
            value={days}
            onChange={setDays}
            fault={fault?.fields.get('retention_days')}
          />
        </>
      )}
    </FormDialog>
  )
}

export function EndInbox({ inbox, onClose }: Omit<EditProps, 'onDone'>): JSX.Element {
  const [w, common] = [words(), allWords()]
  return (
    <EndDialog
      title={w.endInbox}
      effects={[w.endInboxEffect]}
      name={inbox.address_pattern}
      submit={w.endInbox}
      onClose={onClose}
      onSubmit={async () => {
        await call(deleteInbox, { path: { id: inbox.id } })
        toast(common.deleted(plain(inbox.address_pattern)))
        go(link('/captures'))
      }}
    />
  )
}
