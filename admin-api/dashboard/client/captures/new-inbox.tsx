/** Makes a virtual inbox for one address or one domain. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { Dialog, TextField, useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { createInbox } from '../wire/operations.ts'
import { words } from '../words/words.ts'

export function NewInbox({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }): JSX.Element {
  const w = words()
  const [pattern, setPattern] = useState('')
  const [name, setName] = useState('')
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const create = async (): Promise<void> => {
    try {
      const body = {
        address_pattern: pattern,
        ...(name !== '' && { name }),
        ...(projectId.value !== undefined && { project_id: projectId.value }),
      }
      const { id } = await call(createInbox, { body })
      onDone()
      go(link(`/captures/${id}`))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <Dialog title={w.newInbox} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          start(create)
        }}
      >
        <h2>{w.newInbox}</h2>
        <TextField
          label={w.addressPattern}
          hint={w.addressPatternHint}
          value={pattern}
          onChange={setPattern}
          isMono
          fault={fault?.fields.get('address_pattern')}
        />
        <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
        {fault && fault.fields.size === 0 && (
          <div class="note bad" role="alert">
            <Mark name="failed" />
            <p lang="en">{fault.message}</p>
          </div>
        )}
        <footer>
          <button class="button quiet" type="button" onClick={onClose}>
            {w.cancel}
          </button>
          <button class="button primary" aria-disabled={isBusy}>
            {w.create}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
