/** Form that creates an inbound route and shows its secret once. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './inbound-texts.ts'
import { takenBy } from './route-address.tsx'

interface NewRouteProps {
  readonly onClose: () => void
  readonly onSecret: (secret: Secret) => void
}

export function NewRoute({ onClose, onSecret }: NewRouteProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const create = async ({ pattern, url }: { readonly pattern: string; readonly url: string }): Promise<undefined> => {
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const made = await call('POST /v1/inbound-routes', {
      body: { local_part_pattern: pattern.trim(), webhook_url: url.trim(), ...project },
    })
    onSecret({ title: common.secretOf({ name: takenBy(made) }), fields: [['hmac_secret', made.hmac_secret]], note: common.webhookNote })
    return undefined
  }
  return (
    <EditDialog title={common.newInboundRoute} submit={common.create} begin={{ pattern: '', url: '' }} onClose={onClose} onSave={create}>
      {({ at }) => (
        <>
          <TextField label={w.pattern} hint={w.patternHint} {...at('pattern', 'local_part_pattern')} isMono />
          <TextField label={w.webhook} hint={w.webhookHint} type="url" placeholder="https://" {...at('url', 'webhook_url')} isMono />
        </>
      )}
    </EditDialog>
  )
}
