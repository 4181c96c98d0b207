/** Dialog that deletes an organization. It lists the consequences and asks for the name. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { organizations } from '../app/location.ts'
import { EndDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { forget, type DoingProps } from './doing.ts'
import { texts } from './organizations-texts.ts'

export function EndOrganization({ chosen: { id, name, members }, onClose, onDone }: DoingProps): JSX.Element {
  const w = texts()
  const [discards, setDiscards] = useState(false)
  const end = async (): Promise<void> => {
    const query = discards ? { query: { discard_queued: true } } : {}
    await call(
      'DELETE /v1/organizations/{id}',
      { path: { id }, ...query },
      organizations.value.some((one) => one.id === id && one.role === 'owner') ? { organizationId: id } : {},
    )
    onClose()
    toast(w.deleted({ name: plain(name) }))
    forget(id, onDone)
  }
  return (
    <EndDialog
      title={w.deleteNamed({ name: plain(name) })}
      effects={[w.deleteStops, ...(members === undefined ? [] : [w.deleteMembers({ n: members })]), w.deleteGoes]}
      name={name}
      submit={w.delete}
      needsConfirmation
      onClose={onClose}
      onSubmit={end}
    >
      <label class="check">
        <input type="checkbox" checked={discards} onChange={(event) => setDiscards(event.currentTarget.checked)} />
        {w.discardQueued}
      </label>
    </EndDialog>
  )
}
