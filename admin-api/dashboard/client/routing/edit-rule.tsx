/** Form that creates or changes a routing rule. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { Destination, RoutingRule } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './routing-texts.ts'
import { matchOf } from './rule-order.ts'

interface EditProps {
  /** Undefined for a new rule. */
  readonly rule: RoutingRule | undefined
  readonly destinations: readonly Destination[]
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditRule({ rule, destinations, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const begin = {
    ...{ match: rule ? matchOf(rule) : '', priority: String(rule?.priority ?? 100) },
    way: typeof rule?.environment === 'string' ? 'environment' : 'destination',
    ...{ destination: rule?.destination_id ?? '', environment: rule?.environment ?? '' },
  }
  const first = destinations[0]?.id ?? ''
  const save = async ({ match, priority, way, destination, environment }: typeof begin): Promise<string | undefined> => {
    const leadsTo =
      way === 'environment' ? { environment } : { destination_id: (destination || first) === '' ? null : destination || first }
    const body = { match, ...leadsTo, priority: Number(priority) }
    const { warnings } = rule
      ? await call('PATCH /v1/routing/rules/{id}', { path: { id: rule.id }, body })
      : await call('POST /v1/routing/rules', { body: { ...body, ...(projectId.value !== undefined && { project_id: projectId.value }) } })
    return warnings[0]?.message
  }
  const dialog = { title: rule ? w.editRule : w.newRule, submit: rule ? common.save : common.create }
  return (
    <EditDialog {...dialog} begin={begin} onClose={onClose} onSave={save} onDone={onDone}>
      {({ draft, at }) => (
        <>
          <TextField label={w.sender} hint={w.matchHint} {...at('match')} isMono />
          <ChooseField
            label={w.way}
            {...at('way')}
            options={[
              ['destination', w.byDestination],
              ['environment', w.byEnvironment],
            ]}
          />
          {draft.way === 'environment' ? (
            <TextField label={common.environment} {...at('environment')} />
          ) : (
            <ChooseField
              label={common.destination}
              {...at('destination', 'destination_id')}
              value={draft.destination || first}
              options={destinations.map(({ id, name, mode }) => [id, `${plain(name)} (${mode})`] as const)}
            />
          )}
          <TextField label={common.priority} hint={w.priorityHint} type="number" {...at('priority')} />
        </>
      )}
    </EditDialog>
  )
}
