/** Menu of an endpoint: settings, pause, delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { EndDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { EditEndpoint } from './edit-endpoint.tsx'
import { texts } from './webhooks-texts.ts'

interface MenuProps {
  readonly endpoint: WebhookEndpoint
  readonly onChange: () => void
}

export function EndpointMenu({ endpoint, onChange }: MenuProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [open, setOpen] = useState<'edit' | 'remove'>()
  const pause = async (paused: boolean): Promise<void> => {
    try {
      await call('PATCH /v1/webhooks/{id}', { path: { id: endpoint.id }, body: { paused } })
      toast(paused ? w.pausedNow : w.resumedNow, () => void pause(!paused))
      onChange()
    } catch (error) {
      toast(asFault(error).message)
    }
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(() => setOpen('edit'))}>{w.edit}</button>
          <button onClick={then(() => void pause(!endpoint.paused))}>{endpoint.paused ? w.resume : w.pause}</button>
          <button class="bad" onClick={then(() => setOpen('remove'))}>
            {w.remove}
          </button>
        </>
      )}
    >
      {open === 'edit' && (
        <EditEndpoint
          title={w.edit}
          endpoint={endpoint}
          onClose={() => setOpen(undefined)}
          onSave={async (settings) => {
            await call('PATCH /v1/webhooks/{id}', { path: { id: endpoint.id }, body: settings })
            onChange()
            return w.saved
          }}
        />
      )}
      {open === 'remove' && (
        <EndDialog
          title={w.remove}
          effects={[w.removeEffect]}
          name={plain(endpoint.name)}
          submit={w.remove}
          onClose={() => setOpen(undefined)}
          onSubmit={async () => {
            await call('DELETE /v1/webhooks/{id}', { path: { id: endpoint.id } })
            toast(common.deleted({ name: plain(endpoint.name) }))
            go(link('/settings/webhooks'))
          }}
        />
      )}
    </MoreMenu>
  )
}
