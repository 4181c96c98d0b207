/** Forms that create a project or partition, and that change name, limits and the policy for unrouted mail. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { rememberProject } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Project } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './projects-texts.ts'

type Policy = Project['no_route_policy']
type Changes = Input<'PATCH /v1/projects/{id}'>['body']

interface Typed {
  readonly name: string
  readonly policy: Policy
  readonly environment: string
  readonly budget: string
  readonly cap: string
}

const limitOf = (typed: string): number | null => (typed.trim() === '' ? null : Number(typed))
const textOf = (limit: number | null): string => (limit === null ? '' : String(limit))

interface NewProps {
  /** Parent project of a new partition. */
  readonly parent?: Project
  readonly onClose: () => void
  readonly onDone: (made: Project) => void
}

export function NewProject({ parent, onClose, onDone }: NewProps): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useState<Typed>({ name: '', policy: 'capture', environment: '', budget: '', cap: '' })
  const create = async (): Promise<void> => {
    const { name, policy, budget, cap } = typed
    const limits = { send_budget: limitOf(budget), ...(cap.trim() !== '' && { monthly_capture_cap: Number(cap) }) }
    const body = { name, no_route_policy: policy, ...limits, ...(parent && { parent_id: parent.id }) }
    const made = await call('POST /v1/projects', { body })
    rememberProject(made)
    toast(w.made({ name: plain(made.name) }))
    onDone(made)
  }
  return (
    <FormDialog title={parent ? w.newPartition : allTexts().newProject} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          {parent && (
            <p class="lead">
              {w.partitionOf} {plain(parent.name)}
            </p>
          )}
          <Fields typed={typed} onChange={setTyped} fault={fault} />
        </>
      )}
    </FormDialog>
  )
}

interface EditProps {
  readonly project: Project
  readonly onClose: () => void
  readonly onDone: () => void
}

export function EditProject({ project, onClose, onDone }: EditProps): JSX.Element {
  const w = texts()
  const { id, name, no_route_policy: policy, environment, send_budget: budget, monthly_capture_cap: cap } = project
  const [typed, setTyped] = useState<Typed>({
    ...{ name, policy, environment: environment ?? '', budget: textOf(budget), cap: textOf(cap) },
  })
  const before: Changes = { name, no_route_policy: policy, environment, send_budget: budget, monthly_capture_cap: cap }
  const after: Changes = {
    ...{ name: typed.name, no_route_policy: typed.policy, environment: typed.environment.trim() || null },
    ...{ send_budget: limitOf(typed.budget), monthly_capture_cap: limitOf(typed.cap) },
  }
  const changed = fieldsThatDiffer(before, after)
  const keep = async (changes: Changes): Promise<void> => {
    rememberProject(await call('PATCH /v1/projects/{id}', { path: { id }, body: changes }))
    onDone()
  }
  const save = async (): Promise<void> => {
    await keep(pick(after, changed))
    onClose()
    const restore = (): Promise<void> => keep(pick(before, changed)).catch(showFault)
    toast(w.saved({ name: plain(typed.name) }), () => void restore())
  }
  return (
    <FormDialog
      title={w.editOf({ name: plain(name) })}
      submit={allTexts().save}
      isReady={changed.length > 0}
      onClose={onClose}
      onSubmit={save}
    >
      {(fault) => <Fields typed={typed} onChange={setTyped} fault={fault} hasEnvironment />}
    </FormDialog>
  )
}

const fieldsThatDiffer = (before: Changes, after: Changes): readonly (keyof Changes)[] =>
  (Object.keys(after) as (keyof Changes)[]).filter((name) => before[name] !== after[name])

const pick = (changes: Changes, names: readonly (keyof Changes)[]): Changes =>
  Object.fromEntries(names.map((name) => [name, changes[name]]))

interface FieldsProps {
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
  readonly fault: ApiFault | undefined
  /** False for a new project, because it has no destination yet. */
  readonly hasEnvironment?: boolean
}

function Fields({ typed, onChange, fault, hasEnvironment = false }: FieldsProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const set = (changes: Partial<Typed>): void => onChange({ ...typed, ...changes })
  const wrong = (name: keyof Changes): string | undefined => fault?.fields.get(name)
  return (
    <>
      <TextField label={common.name} hint={w.nameHint} value={typed.name} onChange={(name) => set({ name })} fault={wrong('name')} />
      <ChooseField
        label={w.policy}
        hint={w.policyHint}
        value={typed.policy}
        onChange={(policy) => set({ policy: policy as Policy })}
        options={(['capture', 'reject', 'relay_default'] as const).map((one) => [one, w.policies[one]] as const)}
        fault={wrong('no_route_policy')}
      />
      <div class="pair">
        <TextField
          label={w.budget}
          hint={w.budgetHint}
          type="number"
          value={typed.budget}
          onChange={(budget) => set({ budget })}
          fault={wrong('send_budget')}
        />
        <TextField
          label={w.captureCap}
          hint={w.captureCapHint}
          type="number"
          value={typed.cap}
          onChange={(cap) => set({ cap })}
          fault={wrong('monthly_capture_cap')}
        />
      </div>
      {hasEnvironment && (
        <TextField
          label={common.environment}
          hint={w.environmentHint}
          value={typed.environment}
          onChange={(environment) => set({ environment })}
          fault={wrong('environment')}
        />
      )}
    </>
  )
}
