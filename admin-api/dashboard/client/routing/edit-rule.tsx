/** Makes a rule, or changes one. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { createRoutingRule, updateRoutingRule, type Destination, type RoutingRule } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './routing-words.ts'
import { matchOf } from './rule-order.ts'

interface EditProps {
  /** Undefined for a new one. */
  readonly rule: RoutingRule | undefined
  readonly destinations: readonly Destination[]
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditRule({ rule, destinations, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [words(), allWords()]
  const [match, setMatch] = useState(rule ? matchOf(rule) : '')
  const [byEnvironment, setByEnvironment] = useState(typeof rule?.environment === 'string')
  const [destination, setDestination] = useState(rule?.destination_id ?? destinations[0]?.id ?? '')
  const [environment, setEnvironment] = useState(rule?.environment ?? '')
  const [priority, setPriority] = useState(String(rule?.priority ?? 100))
  const chosen = destination || destinations[0]?.id
  const save = async (): Promise<void> => {
    const way = byEnvironment ? { environment } : { destination_id: chosen ?? null }
    const body = { match, ...way, priority: Number(priority) }
    if (rule) await call(updateRoutingRule, { path: { id: rule.id }, body })
    else await call(createRoutingRule, { body: { ...body, ...(projectId.value !== undefined && { project_id: projectId.value }) } })
    onClose()
    onDone()
  }
  return (
    <FormDialog title={rule ? w.editRule : w.newRule} submit={rule ? common.save : common.create} onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <TextField label={w.sender} hint={w.matchHint} value={match} onChange={setMatch} isMono fault={fault?.fields.get('match')} />
          <ChooseField
            label={w.way}
            value={byEnvironment ? 'environment' : 'destination'}
            onChange={(next) => setByEnvironment(next === 'environment')}
            options={[
              ['destination', w.byDestination],
              ['environment', w.byEnvironment],
            ]}
          />
          {byEnvironment ? (
            <TextField label={common.environment} value={environment} onChange={setEnvironment} fault={fault?.fields.get('environment')} />
          ) : (
            <ChooseField
              label={common.destination}
              value={chosen ?? ''}
              onChange={setDestination}
              fault={fault?.fields.get('destination_id')}
              options={destinations.map(({ id, name, mode }) => [id, `${plain(name)} (${mode})`] as const)}
            />
          )}
          <TextField
            label={common.priority}
            hint={w.priorityHint}
            type="number"
            value={priority}
            onChange={setPriority}
            fault={fault?.fields.get('priority')}
          />
        </>
      )}
    </FormDialog>
  )
}
