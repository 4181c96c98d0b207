/** Dialog that sends a test of the template. The message is captured, and the trace shows it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { boot } from '../app/boot.ts'
import { link } from '../app/location.ts'
import { Dialog, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import type { Template } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { parseObject } from '../template-editor/draft.ts'
import { texts } from './template-texts.ts'

interface TestProps {
  readonly template: Template
  readonly sample: string
  /** Saves pending changes first. */
  readonly before: (() => Promise<unknown>) | undefined
  readonly onClose: () => void
}

export function TestSend({ template, sample, before, onClose }: TestProps): JSX.Element {
  const w = texts()
  const [from, setFrom] = useState(boot.email)
  const [to, setTo] = useState(boot.email)
  const [traceId, setTraceId] = useState<string>()
  const [mustSave] = useState(before !== undefined)
  const send = async (): Promise<void> => {
    await before?.()
    const values = parseObject(sample)
    const body = { to, ...(from !== '' && { from }), variables: values.isJson ? values.value : {} }
    setTraceId((await call('POST /v1/templates/{id}/test', { path: { id: template.id }, body })).trace_id)
  }
  if (traceId !== undefined)
    return (
      <Dialog title={w.testTitle} onClose={onClose}>
        <div>
          <h2>{w.testTitle}</h2>
          <div class="note held" role="status">
            <Mark name="captured" />
            <p>
              <b>{w.captured}</b> <a href={link(`/traces/${traceId}`)}>{w.readTrace}</a>
            </p>
          </div>
          <footer>
            <button class="button primary" onClick={onClose}>
              {allTexts().close}
            </button>
          </footer>
        </div>
      </Dialog>
    )
  return (
    <FormDialog title={w.testTitle} submit={mustSave ? w.saveAndSend : w.sendTest} onClose={onClose} onSubmit={send}>
      {(fault) => (
        <>
          <div class="note held">
            <Mark name="captured" />
            <p>
              {w.testStays} {mustSave ? w.testSaves : w.testOf({ n: template.current_version })}
            </p>
          </div>
          <TextField label={w.from} type="email" value={from} onChange={setFrom} fault={fault?.fields.get('from')} />
          <TextField label={w.to} type="email" value={to} onChange={setTo} fault={fault?.fields.get('to')} />
        </>
      )}
    </FormDialog>
  )
}
