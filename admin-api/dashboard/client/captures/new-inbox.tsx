/** Form that creates a virtual inbox for an address or a domain. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { texts } from '../texts/texts.ts'

export function NewInbox({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [pattern, setPattern] = useState('')
  const [name, setName] = useState('')
  const create = async (): Promise<void> => {
    const body = {
      address_pattern: pattern,
      ...(name !== '' && { name }),
      ...(projectId.value !== undefined && { project_id: projectId.value }),
    }
    const { id } = await call('POST /v1/inboxes', { body })
    onDone()
    go(link(`/captures/${id}`))
  }
  return (
    <FormDialog title={w.newInbox} submit={w.create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField
            label={w.addressPattern}
            hint={w.addressPatternHint}
            value={pattern}
            onChange={setPattern}
            isMono
            fault={fault?.fields.get('address_pattern')}
          />
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
        </>
      )}
    </FormDialog>
  )
}
