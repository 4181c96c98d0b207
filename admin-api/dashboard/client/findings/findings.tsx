/** Problems that the service found in itself, each with a next step, and a button that checks again. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { showFault, useRead } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import type { DoctorReport } from '../wire/api.d.ts'
import { textOf } from './finding-text.ts'
import { texts } from './findings-texts.ts'

const everyMs = 15_000
const marks = { error: 'failed', warning: 'warning', notice: 'none' } as const
const tones = { error: 'bad', warning: 'warn', notice: '' } as const

export function Findings(): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/doctor', {}, { every: everyMs })
  const [isLooking, setLooking] = useState(false)
  const look = async (): Promise<void> => {
    setLooking(true)
    try {
      await call('POST /operator/v1/doctor', {})
    } catch (error) {
      showFault(error)
    }
    setLooking(false)
    read.reload()
  }
  const isBusy = isLooking || read.data?.examining === true
  return (
    <section aria-label={w.findings}>
      <div class="head">
        <h3>{w.findings}</h3>
        {read.data && (
          <span class="faint" role="status">
            {isBusy ? w.looking : <Looked report={read.data} />}
          </span>
        )}
        <button class="button small right" aria-disabled={isBusy} onClick={() => void (isBusy || look())}>
          <Icon name="replay" />
          {w.look}
        </button>
      </div>
      <Show read={read} reload={read.reload} failure={w.failed} rows={2}>
        {(report) => <Found report={report} />}
      </Show>
    </section>
  )
}

const Looked = ({ report: { checked_at: at } }: { readonly report: DoctorReport }): JSX.Element =>
  at === null ? <>{texts().notYet}</> : <time title={exactTime(at)}>{texts().lookedAt({ at: shortTime(at) })}</time>

function Found({ report: { findings, checked_at: at } }: { readonly report: DoctorReport }): JSX.Element {
  const w = texts()
  if (findings.length === 0)
    return (
      <p class="operator-note">
        <Mark name={at === null ? 'pending' : 'ok'} /> {at === null ? w.firstLook : w.nothing}
      </p>
    )
  return (
    <ul class="operator-findings">
      {findings.map(({ id, severity, subject, organization_name: organization, ...finding }) => {
        const { title, summary, fix } = textOf({ kind: id, ...finding })
        return (
          <li key={`${id} ${subject} ${organization ?? ''}`}>
            <Mark name={marks[severity]} />
            <div>
              <b>{plain(title)}</b> <span class={`tag ${tones[severity]}`}>{w.severities[severity]}</span> <code class="faint">{id}</code>{' '}
              {organization !== null && <span class="faint">{plain(organization)}</span>}
              <p>{plain(summary)}</p>
              <p class="soft">{plain(fix)}</p>
            </div>
          </li>
        )
      })}
    </ul>
  )
}
