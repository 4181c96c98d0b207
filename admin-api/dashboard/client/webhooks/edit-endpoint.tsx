/** Name, address and events of an endpoint, when it is made and when it is changed. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import type { WebhookEndpoint } from '../wire/operations.ts'
import { words } from '../words/words.ts'

const eventTypes = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] as const
type EventType = (typeof eventTypes)[number]

export interface EndpointSettings {
  readonly name: string
  readonly target_url: string
  readonly event_types: EventType[]
}

interface EditProps {
  readonly title: string
  readonly submit: string
  /** Undefined for a new one. */
  readonly endpoint?: WebhookEndpoint
  readonly onClose: () => void
  readonly onSubmit: (settings: EndpointSettings) => Promise<void>
}

export function EditEndpoint({ title, submit, endpoint, onClose, onSubmit }: EditProps): JSX.Element {
  const w = words()
  const [name, setName] = useState(endpoint?.name ?? '')
  const [url, setUrl] = useState(endpoint?.target_url ?? '')
  const [types, setTypes] = useState<readonly EventType[]>(endpoint?.event_types ?? [])
  const toggle = (type: EventType): void => setTypes(types.includes(type) ? types.filter((one) => one !== type) : [...types, type])
  const settings = { name, target_url: url, event_types: [...types] }
  return (
    <FormDialog title={title} submit={submit} onClose={onClose} onSubmit={() => onSubmit(settings)}>
      {(fault) => (
        <>
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField
            label={w.endpoint}
            type="url"
            placeholder="https://"
            value={url}
            onChange={setUrl}
            fault={fault?.fields.get('target_url')}
            isMono
          />
          <fieldset>
            <legend class="label">{w.eventsHint}</legend>
            {eventTypes.map((type) => (
              <label class="check" key={type}>
                <input type="checkbox" checked={types.includes(type)} onChange={() => toggle(type)} />
                <code>{type}</code>
              </label>
            ))}
          </fieldset>
        </>
      )}
    </FormDialog>
  )
}
