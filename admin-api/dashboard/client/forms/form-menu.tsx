/** Menu of a form: rename, duplicate, export, move, pause, archive and delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, save } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { projectRows, projects } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Form, ListedForm } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './forms-texts.ts'

interface MenuProps {
  readonly form: ListedForm
  readonly onChanged: (form: Form) => void
  /** Receives the new name. It belongs to the draft. */
  readonly onRenamed: (name: string) => void
  /** Saves pending changes. */
  readonly flush: () => Promise<void>
}

type Open = 'rename' | 'move' | 'remove'

export function FormMenu(props: MenuProps): JSX.Element {
  const w = texts()
  const { form } = props
  const [open, setOpen] = useState<Open>()
  const others = projects.value.filter(({ id }) => id !== form.project_id)
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(() => void exportDefinition(form))}>{w.exportIt}</button>
          {mayChange.value && (
            <>
              <button onClick={then(() => void duplicate(props))}>{w.duplicate}</button>
              <button onClick={then(() => setOpen('rename'))}>{w.rename}</button>
              {others.length > 0 && <button onClick={then(() => setOpen('move'))}>{w.move}</button>}
              {turnsOf(form).map((turn) => (
                <button key={turn} onClick={then(() => void run(turn, props))}>
                  {w[turn]}
                </button>
              ))}
              <button class="bad" onClick={then(() => setOpen('remove'))}>
                {w.remove}
              </button>
            </>
          )}
        </>
      )}
    >
      {open === 'rename' && <Rename {...props} onClose={() => setOpen(undefined)} />}
      {open === 'move' && <Move {...props} onClose={() => setOpen(undefined)} />}
      {open === 'remove' && (
        <EndDialog
          title={w.remove}
          effects={Object.values(w.removeEffects)}
          name={plain(form.name)}
          submit={w.remove}
          onClose={() => setOpen(undefined)}
          onSubmit={async () => {
            await call('DELETE /v1/forms/{id}', { path: { id: form.id }, query: { confirm: form.name } })
            toast(w.removed({ name: plain(form.name) }))
            go(link('/forms'), { replaces: true })
          }}
        />
      )}
    </MoreMenu>
  )
}

const turns = {
  pause: { route: 'POST /v1/forms/{id}/pause', done: 'paused', back: 'resume' },
  resume: { route: 'POST /v1/forms/{id}/resume', done: 'resumed', back: 'pause' },
  archive: { route: 'POST /v1/forms/{id}/archive', done: 'archived', back: 'unarchive' },
  unarchive: { route: 'POST /v1/forms/{id}/unarchive', done: 'unarchived', back: 'archive' },
} as const

type Turn = keyof typeof turns

const turnsOf = ({ status }: ListedForm): readonly Turn[] =>
  status === 'archived'
    ? ['unarchive']
    : status === 'published'
      ? ['pause', 'archive']
      : status === 'paused'
        ? ['resume', 'archive']
        : ['archive']

/** Runs an action and offers to undo it. */
async function run(turn: Turn, props: MenuProps): Promise<void> {
  const { route, done, back } = turns[turn]
  try {
    props.onChanged(await call(route, { path: { id: props.form.id } }))
    toast(texts()[done], () => void run(back, props))
  } catch (error) {
    showFault(error)
  }
}

async function exportDefinition({ id, name }: ListedForm): Promise<void> {
  try {
    const exported = await call('/v1/forms/{id}/export-definition', { path: { id } })
    const file = new Blob([JSON.stringify(exported, undefined, 2)], { type: 'application/json' })
    await save(file, `${name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').toLowerCase()}.form.json`)
  } catch (error) {
    showFault(error)
  }
}

async function duplicate({ form, flush }: MenuProps): Promise<void> {
  try {
    await flush()
    const copy = await call('POST /v1/forms/{id}/duplicate', { path: { id: form.id } })
    toast(texts().duplicated({ name: plain(form.name) }))
    go(link(`/forms/${copy.id}`))
  } catch (error) {
    showFault(error)
  }
}

type DialogProps = MenuProps & { readonly onClose: () => void }

/** Renames the draft. The name is saved together with the draft. */
function Rename({ form, onRenamed, onClose }: DialogProps): JSX.Element {
  const w = texts()
  const [name, setName] = useState(form.name)
  const put = (): Promise<void> => {
    onRenamed(name.trim())
    onClose()
    toast(w.renamed)
    return Promise.resolve()
  }
  return (
    <FormDialog title={w.renameTitle} submit={allTexts().done} isReady={name.trim() !== ''} onClose={onClose} onSubmit={put}>
      {() => <TextField label={allTexts().name} value={name} onChange={setName} hint={w.renameText} />}
    </FormDialog>
  )
}

function Move({ form, onChanged, onClose }: DialogProps): JSX.Element {
  const w = texts()
  const others = projects.value.filter(({ id }) => id !== form.project_id)
  const [to, setTo] = useState(others[0]?.id ?? '')
  const move = async (target: string): Promise<void> => {
    onChanged(await call('PATCH /v1/forms/{id}', { path: { id: form.id }, body: { project_id: target } }))
  }
  const nameOf = (id: string): string => plain(projects.value.find((one) => one.id === id)?.name ?? '')
  const submit = async (): Promise<void> => {
    await move(to)
    onClose()
    toast(w.moved({ project: nameOf(to) }), () => void move(form.project_id))
  }
  return (
    <FormDialog title={w.moveTitle} submit={allTexts().done} onClose={onClose} onSubmit={submit}>
      {() => (
        <ChooseField
          label={w.project}
          value={to}
          onChange={setTo}
          hint={w.moveText}
          of={projectRows.value}
          options={others.map(({ id, name }) => [id, plain(name)] as const)}
        />
      )}
    </FormDialog>
  )
}
