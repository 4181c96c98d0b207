/** Dialog that sends a test message. It shows the routing result first. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { outcomeReason, refusalReason } from '../reasons/reasons.ts'
import type { RoutingSimulation } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

export default function SendTest({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [from, setFrom] = useState(boot.email)
  const [to, setTo] = useState(boot.email)
  const project = projectId.value === undefined ? {} : { project_id: projectId.value }
  const isWhole = /@.+/.test(from) && /@.+/.test(to)
  const expected = useRead('POST /v1/routing/simulate', isWhole ? { body: { ...project, from, to } } : undefined)
  const send = async (): Promise<void> => {
    const body = { ...project, from, to: [to], subject: w.testSubject, text: w.testText, html: `<p>${w.testText}</p>` }
    const { trace_id: traceId } = await call('POST /v1/messages', { body })
    onClose()
    go(link(`/traces/${traceId}`))
  }
  const isRelayed = expected.data?.outcome === 'relayed'
  return (
    <FormDialog title={w.sendTest} submit={isRelayed ? w.sendForReal : w.sendCapturedTest} onClose={onClose} onSubmit={send}>
      {(fault) => (
        <>
          <TextField label={w.from} value={from} onChange={setFrom} type="email" fault={fault?.fields.get('from')} />
          <TextField label={w.to} value={to} onChange={setTo} type="email" fault={fault?.fields.get('to') ?? fault?.fields.get('to.0')} />
          {!fault && (
            <div class={`note ${isRelayed ? 'warn' : 'held'}`} role="status">
              <Mark name={isRelayed ? 'live' : 'captured'} />
              <p>
                <b>{isRelayed ? w.testLeaves : w.testStays}</b> {expected.data && <Why simulation={expected.data} />}
              </p>
            </div>
          )}
        </>
      )}
    </FormDialog>
  )
}

function Why({ simulation }: { readonly simulation: RoutingSimulation }): JSX.Element {
  const { refusal, steps, destination } = simulation
  const { used, limit } = steps.at(-1) ?? {}
  const reason = refusal ? refusalReason(refusal.code, used, limit) : outcomeReason(simulation, plain(destination?.name ?? ''))
  return reason === undefined ? <span lang="en">{simulation.reason}</span> : <span>{reason}</span>
}
