/** Dialog that exports the submissions of a form as a file. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, save } from '../app/api.ts'
import { type MaybeCut } from '../selection/newest.tsx'
import { ChooseField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { ListedForm } from '../wire/api.d.ts'
import { statuses, wantedStatus } from './filter.ts'
import { texts } from './submissions-texts.ts'

interface ExportProps {
  readonly forms: readonly ListedForm[]
  readonly all: MaybeCut
  readonly formId: string | undefined
  readonly onClose: () => void
}

const exported = statuses.filter((one) => one !== 'all' && one !== 'open')
const formats = ['csv', 'json', 'jsonl'] as const

export function ExportDialog({ forms, all, formId, onClose }: ExportProps): JSX.Element {
  const w = texts()
  const [id, setId] = useState(formId ?? forms[0]?.id ?? '')
  const [format, setFormat] = useState<string>('csv')
  const [status, setStatus] = useState<string>(exported.find((one) => one === wantedStatus()) ?? '')
  const write = async (): Promise<void> => {
    const query = {
      ...{ format: formats.find((one) => one === format) ?? 'csv', tz: Intl.DateTimeFormat().resolvedOptions().timeZone },
      ...(status !== '' && { status: exported.find((one) => one === status) ?? 'new' }),
    }
    const file = await call('/v1/forms/{id}/submissions/export', { path: { id }, query })
    onClose()
    // `call` parses JSON responses
    await save(file instanceof Blob ? file : new Blob([JSON.stringify(file)]), `submissions.${format}`)
  }
  return (
    <FormDialog title={w.exportTitle} submit={w.exportNow} onClose={onClose} onSubmit={write}>
      {() => (
        <>
          <ChooseField
            label={w.form}
            of={all}
            value={id}
            onChange={setId}
            options={forms.map((form) => [form.id, plain(form.name)] as const)}
          />
          <ChooseField
            label={w.status}
            hint={w.exportHint}
            value={status}
            onChange={setStatus}
            options={[['', w.allButSpam] as const, ...exported.map((one) => [one, w.statuses[one]] as const)]}
          />
          <ChooseField
            label={w.format}
            value={format}
            onChange={setFormat}
            options={[
              ['csv', 'CSV'],
              ['json', 'JSON'],
              ['jsonl', 'JSON Lines'],
            ]}
          />
        </>
      )}
    </FormDialog>
  )
}
