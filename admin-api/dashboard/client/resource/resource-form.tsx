/** Dialog that creates or changes a resource. */
import type { JSX } from 'preact'
import { callAny } from '../app/api.ts'
import { projectId } from '../app/location.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, type Fields } from '../parts/forms.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import { toast } from '../parts/toast.tsx'
import type { AnyField, AnyRow, Described, Draft } from './description.ts'

type Form = NonNullable<Described['form']>

interface FormProps {
  readonly of: Described
  readonly onClose: () => void
  readonly onDone: () => void
}

interface NewProps extends FormProps {
  readonly onSecret: (secret: Secret) => void
  /** Deletes the created row. Adds a button to the confirmation. */
  readonly undo: ((made: AnyRow) => void) | undefined
}

export function NewResource({ of, undo, onSecret, onClose, onDone }: NewProps): JSX.Element | null {
  const { form, path, isOfProject = false } = of
  const create = form?.create
  if (!create) return null
  const { label, submit = label, secret, done, body } = create
  const save = async (draft: Draft): Promise<undefined> => {
    const project = isOfProject && projectId.value !== undefined ? { project_id: projectId.value } : {}
    const made = (await callAny(`POST ${path}`, { body: { ...body(draft), ...project } })) as AnyRow
    if (secret) onSecret(secret(made))
    else if (done) toast(done(draft), undo && (() => undo(made)))
    return undefined
  }
  return (
    <EditDialog title={label()} submit={submit()} begin={form.begin()} onClose={onClose} onSave={save} onDone={onDone}>
      {(fields) => <ResourceFields form={form} fields={fields} only="create" />}
    </EditDialog>
  )
}

export function EditResource({ of, row, onClose, onDone }: FormProps & { readonly row: AnyRow }): JSX.Element | null {
  const { form, path } = of
  const update = form?.update
  if (!update) return null
  const save = async (draft: Draft): Promise<string> => {
    await callAny(`PATCH ${path}/{id}`, { path: { id: row.id }, body: update.body(draft, row) })
    return update.done(row)
  }
  return (
    <EditDialog title={update.label(row)} begin={form.begin(row)} onClose={onClose} onSave={save} onDone={onDone}>
      {(fields) => <ResourceFields form={form} fields={fields} only="update" />}
    </EditDialog>
  )
}

interface FieldsProps {
  readonly form: Form
  readonly fields: Fields<Draft>
  readonly only: 'create' | 'update'
}

const ResourceFields = ({ form, fields: { at, draft }, only }: FieldsProps): JSX.Element => (
  <>
    {form.fields
      .filter((field) => field.only === undefined || field.only === only)
      .map((field) => (
        <Control key={field.name} field={field} draft={draft} {...at(field.name, field.wire)} />
      ))}
  </>
)

interface ControlProps extends ReturnType<Fields<Draft>['at']> {
  readonly field: AnyField
  readonly draft: Draft
}

function Control({ field, draft, value, onChange, fault }: ControlProps): JSX.Element {
  const { type } = field
  const [label, hint] = [field.label(), field.hint?.(draft)]
  if (typeof type === 'object' && 'own' in type) return <>{type.own({ value, draft, fault, onChange })}</>
  if (typeof type === 'object' && 'tick' in type)
    return <Ticks label={label} fault={fault} all={type.tick} value={value as readonly string[]} onChange={onChange} />
  const common = { label, hint, fault, value: value as string, onChange }
  if (typeof type === 'object') return <ChooseField {...common} options={type.choose()} />
  return (
    <TextField
      {...common}
      type={type === 'datetime' ? 'datetime-local' : type}
      isMono={type === 'url'}
      {...(type === 'url' && { placeholder: 'https://' })}
    />
  )
}

interface TicksProps {
  readonly label: string
  readonly fault: string | undefined
  readonly all: readonly string[]
  readonly value: readonly string[]
  readonly onChange: (value: readonly string[]) => void
}

const Ticks = ({ label, fault, all, value, onChange }: TicksProps): JSX.Element => (
  <fieldset>
    <legend class="label">{label}</legend>
    {all.map((one) => (
      <label class="check" key={one}>
        <input
          type="checkbox"
          checked={value.includes(one)}
          onChange={() => onChange(value.includes(one) ? value.filter((other) => other !== one) : [...value, one])}
        />
        <code>{one}</code>
      </label>
    ))}
    {fault !== undefined && <small class="wrong">{fault}</small>}
  </fieldset>
)
