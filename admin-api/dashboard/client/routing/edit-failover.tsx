/** Form that creates or changes a failover policy. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Destination, FailoverPolicy } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './routing-texts.ts'

type Condition = FailoverPolicy['conditions']['on'][number]

const conditions: readonly Condition[] = ['transient', 'rate_limited', 'breaker_open', 'misconfigured', 'latency']
const maxFallbacks = 5

export function conditionTexts(): Readonly<Record<Condition, string>> {
  const w = texts()
  return {
    transient: w.onTransient,
    rate_limited: w.onRateLimited,
    breaker_open: w.onBreakerOpen,
    misconfigured: w.onMisconfigured,
    latency: w.onLatency,
  }
}

interface EditProps {
  /** Undefined for a new policy. */
  readonly policy: FailoverPolicy | undefined
  readonly destinations: readonly Destination[]
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditFailover({ policy, destinations, onClose, onDone }: EditProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const [chosen, setPrimary] = useState(policy?.primary_id ?? '')
  const [fallbacks, setFallbacks] = useState<readonly string[]>(policy?.fallback_ids ?? [])
  const [on, setOn] = useState<readonly Condition[]>(policy?.conditions.on ?? ['transient', 'breaker_open'])
  const [latency, setLatency] = useState(String(policy?.conditions.latency_ms ?? 30_000))
  const primary = chosen || (destinations[0]?.id ?? '')
  const save = async (): Promise<void> => {
    const when = { on: [...on], ...(on.includes('latency') && { latency_ms: Number(latency) }) }
    const project = policy?.project_id ?? projectId.value
    const body = {
      primary_id: primary,
      fallback_ids: [...fallbacks],
      conditions: when,
      ...(project !== undefined && { project_id: project }),
    }
    const { warnings } = await call('POST /v1/failover/policy', { body })
    toast(warnings[0]?.message ?? w.failoverSaved)
    onClose()
    onDone()
  }
  const others = destinations.filter(({ id }) => id !== primary)
  const setAt = (at: number, id: string): void =>
    setFallbacks(id === '' ? fallbacks.toSpliced(at, 1) : fallbacks.toSpliced(at, 1, id).filter((one, i, all) => all.indexOf(one) === i))
  const places = Math.min(fallbacks.length + 1, others.length, maxFallbacks)
  const label = ({ name, mode }: Destination): string => (mode === 'sandbox' ? `${plain(name)} (${w.sandboxSkipped})` : plain(name))
  return (
    <FormDialog title={policy ? w.editFailover : w.newFailover} submit={common.save} onClose={onClose} onSubmit={save}>
      {(fault) => (
        <>
          <ChooseField
            label={w.primary}
            value={primary}
            onChange={(next) => {
              setPrimary(next)
              setFallbacks(fallbacks.filter((one) => one !== next))
            }}
            fault={fault?.fields.get('primary_id')}
            options={(policy ? destinations.filter(({ id }) => id === policy.primary_id) : destinations).map(
              (one) => [one.id, plain(one.name)] as const,
            )}
          />
          {Array.from({ length: places }, (_, at) => (
            <ChooseField
              key={at}
              label={w.fallbackN({ n: at + 1 })}
              value={fallbacks[at] ?? ''}
              onChange={(id) => setAt(at, id)}
              fault={at === 0 ? fault?.fields.get('fallback_ids') : undefined}
              options={[['', w.none] as const, ...others.map((one) => [one.id, label(one)] as const)]}
            />
          ))}
          <Conditions on={on} onChange={setOn} />
          {on.includes('latency') && (
            <TextField
              label={w.latencyMs}
              type="number"
              value={latency}
              onChange={setLatency}
              fault={fault?.fields.get('conditions.latency_ms')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

interface ConditionsProps {
  readonly on: readonly Condition[]
  readonly onChange: (on: readonly Condition[]) => void
}

const Conditions = ({ on, onChange }: ConditionsProps): JSX.Element => (
  <fieldset class="choices">
    <legend>{texts().conditions}</legend>
    {conditions.map((one) => (
      <label class="check" key={one}>
        <input
          type="checkbox"
          checked={on.includes(one)}
          onChange={(event) => onChange(event.currentTarget.checked ? [...on, one] : on.filter((other) => other !== one))}
        />
        {conditionTexts()[one]}
      </label>
    ))}
  </fieldset>
)
