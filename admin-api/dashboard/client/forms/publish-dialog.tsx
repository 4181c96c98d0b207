/** Dialog that publishes the draft: changes for visitors, errors that prevent it, and a note for the history. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import type { Form, FormVersion, ListedForm } from '../wire/api.d.ts'
import { Changes } from '../form-designer/changes.tsx'
import { texts } from './forms-texts.ts'
import { wholeOf, type Editing } from './use-draft.ts'

interface PublishProps {
  readonly form: ListedForm
  /** Published version. Undefined before the first publication. */
  readonly live: FormVersion | undefined
  readonly editing: Editing
  readonly onClose: () => void
  readonly onPublished: (form: Form) => void
}

export function PublishDialog({ form, live, editing, onClose, onPublished }: PublishProps): JSX.Element {
  const w = texts()
  const { definition, check, flush } = editing
  const [note, setNote] = useState('')
  const isReady = check.errors.length === 0
  const publish = async (): Promise<void> => {
    await flush()
    onPublished(await call('POST /v1/forms/{id}/publish', { path: { id: form.id }, body: { note } }))
    onClose()
  }
  return (
    <FormDialog
      title={w.publishTitle({ n: form.version + 1 })}
      submit={w.publish({ n: form.version + 1 })}
      isReady={isReady}
      onClose={onClose}
      onSubmit={publish}
    >
      {(fault) => (
        <>
          <p class="faint">{w.publishText}</p>
          {!isReady && <Findings title={w.cannotPublish} mark="failed" findings={check.errors} />}
          {check.warnings.length > 0 && (
            <Findings title={w.warnings({ n: check.warnings.length })} mark="warning" findings={check.warnings} />
          )}
          {live && (
            <div class="publish-changes" tabIndex={0} role="group" aria-label={w.changed}>
              <Changes before={wholeOf(live.definition)} after={definition} />
            </div>
          )}
          <TextField label={w.note} value={note} onChange={setNote} fault={fault?.fields.get('note')} />
        </>
      )}
    </FormDialog>
  )
}

interface FindingsProps {
  readonly title: string
  readonly mark: 'failed' | 'warning'
  readonly findings: Editing['check']['errors']
}

/** Findings of the check with their paths. */
const Findings = ({ title, mark, findings }: FindingsProps): JSX.Element => (
  <div class={`note ${mark === 'failed' ? 'bad' : 'warn'}`}>
    <Mark name={mark} />
    <div class="found-list">
      <b>{title}</b>
      <ul>
        {findings.slice(0, 20).map(({ path, message }) => (
          <li key={path + message}>
            <code>{path}</code> <span lang="en">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  </div>
)
