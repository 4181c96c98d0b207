/** Form for name, URL and event types of an endpoint, for creation and changes. */
import type { JSX } from 'preact'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import type { WebhookEndpoint } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { formatHint, formatOptions, type Format } from './formats.ts'
import { texts as own } from './webhooks-texts.ts'

const eventTypes = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] as const
type EventType = (typeof eventTypes)[number]

export interface EndpointSettings {
  readonly name: string
  readonly target_url: string
  readonly event_types: EventType[]
  readonly format: Format
}

interface EditProps {
  readonly title: string
  readonly submit?: string
  /** Undefined for a new endpoint. */
  readonly endpoint?: WebhookEndpoint
  readonly onClose: () => void
  /** Returns the confirmation text. */
  readonly onSave: (settings: EndpointSettings) => Promise<string | undefined>
}

export function EditEndpoint({ endpoint, ...rest }: EditProps): JSX.Element {
  const w = texts()
  const { name = '', target_url: url = '', event_types: types = [], format = 'native' } = endpoint ?? {}
  return (
    <EditDialog {...rest} begin={{ name, target_url: url, event_types: [...types], format }}>
      {({ at, draft }) => (
        <>
          <TextField label={w.name} {...at('name')} />
          <TextField label={w.endpoint} type="url" placeholder="https://" {...at('target_url')} isMono />
          <ChooseField
            label={own().format}
            options={formatOptions}
            hint={formatHint(draft.format)}
            {...at('format')}
            onChange={(value) => at('format').onChange(value as Format)}
          />
          <Events {...at('event_types')} />
        </>
      )}
    </EditDialog>
  )
}

interface EventsProps {
  readonly value: EventType[]
  readonly onChange: (value: EventType[]) => void
}

const Events = ({ value, onChange }: EventsProps): JSX.Element => (
  <fieldset>
    <legend class="label">{texts().eventsHint}</legend>
    {eventTypes.map((type) => (
      <label class="check" key={type}>
        <input
          type="checkbox"
          checked={value.includes(type)}
          onChange={() => onChange(value.includes(type) ? value.filter((one) => one !== type) : [...value, type])}
        />
        <code>{type}</code>
      </label>
    ))}
  </fieldset>
)
