/** Dialog that renames an organization; the change can be undone. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { organizations } from '../app/location.ts'
import { showFault } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { askingFrom, type DoingProps } from './doing.ts'
import { texts } from './organizations-texts.ts'

export function Rename({ chosen, onClose, onDone }: DoingProps): JSX.Element {
  const w = texts()
  const [name, setName] = useState(chosen.name)
  const put = async (next: string): Promise<void> => {
    await call('PATCH /v1/organizations/{id}', { path: { id: chosen.id }, body: { name: next } }, askingFrom(chosen.id))
    organizations.value = organizations.value.map((one) => (one.id === chosen.id ? { ...one, name: next } : one))
    onDone()
  }
  const undo = (): void => void put(chosen.name).catch(showFault)
  const rename = async (): Promise<void> => {
    await put(name.trim())
    onClose()
    toast(w.renamed({ name: plain(name.trim()) }), undo)
  }
  const isReady = name.trim() !== '' && name.trim() !== chosen.name
  return (
    <FormDialog title={w.renameNamed({ name: plain(chosen.name) })} submit={w.rename} isReady={isReady} onClose={onClose} onSubmit={rename}>
      {(fault) => <TextField label={allTexts().name} value={name} onChange={setName} fault={fault?.fields.get('name')} />}
    </FormDialog>
  )
}
