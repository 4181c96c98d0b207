/** Sends a test message, and says beforehand what will happen to it. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call, type ApiFault } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { asFault, useRead } from '../app/query.ts'
import { Dialog, TextField, useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { sendMessage, simulateRouting } from '../wire/operations.ts'
import { words } from '../words/words.ts'

export function SendTest({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = words()
  const [from, setFrom] = useState(boot.email)
  const [to, setTo] = useState(boot.email)
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const project = projectId.value === undefined ? {} : { project_id: projectId.value }
  const isWhole = /@.+/.test(from) && /@.+/.test(to)
  const expected = useRead(simulateRouting, isWhole ? { body: { ...project, from, to } } : undefined)
  const send = async (): Promise<void> => {
    setFault(undefined)
    try {
      const body = { ...project, from, to: [to], subject: w.testSubject, text: w.testText, html: `<p>${w.testText}</p>` }
      const { trace_id: traceId } = await call(sendMessage, { body })
      onClose()
      go(link(`/traces/${traceId}`))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  const outcome = expected.data?.outcome
  return (
    <Dialog title={w.sendTest} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          start(send)
        }}
      >
        <h2>{w.sendTest}</h2>
        <TextField label={w.from} value={from} onChange={setFrom} type="email" fault={fault?.fields.get('from')} />
        <TextField label={w.to} value={to} onChange={setTo} type="email" fault={fault?.fields.get('to') ?? fault?.fields.get('to.0')} />
        {fault ? (
          <div class="note bad" role="alert">
            <Mark name="failed" />
            <p>{fault.message}</p>
          </div>
        ) : (
          <div class={`note ${outcome === 'relayed' ? 'warn' : 'held'}`} role="status">
            <Mark name={outcome === 'relayed' ? 'live' : 'captured'} />
            <p>
              <b>{outcome === 'relayed' ? w.testLeaves : w.testStays}</b>{' '}
              <span lang="en">{expected.data?.reason ?? expected.data?.refusal?.message}</span>
            </p>
          </div>
        )}
        <footer>
          <button class="button quiet" type="button" onClick={onClose}>
            {w.cancel}
          </button>
          <button class="button primary" aria-disabled={isBusy}>
            {outcome === 'relayed' ? w.sendForReal : w.sendCapturedTest}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
