/** Verdict of a trace in plain words. For failures it shows the diagnosis of the service and the next steps. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { link, organization } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { showFault, useRead } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { Explained } from '../diagnosis/diagnosis.tsx'
import { refusalReason, useReasons } from '../reasons/reasons.ts'
import type { Trace } from '../wire/api.d.ts'
import { language } from '../texts/language.ts'
import { clockTime } from '../parts/time.ts'
import { texts } from '../texts/texts.ts'
import { texts as ownTexts } from './trace-texts.ts'

const bad = new Set(['bounced', 'failed', 'complained'])
const english = (): string | undefined => (language.value === 'en' ? undefined : 'en')

export function Verdict({ trace }: { readonly trace: Trace }): JSX.Element | null {
  const w = texts()
  const isBad = bad.has(trace.status)
  const found = useRead('/v1/diagnose/bounce', isBad ? { query: { message_id: trace.trace_id } } : undefined)
  const { status } = trace
  if (!isBad) {
    if (status === 'pending') return <Awaited traceId={trace.trace_id} />
    if (status === 'queued' && trace.attempts > 0 && trace.next_attempt_at !== null)
      return <Note tone="warn" mark="warning" text={w.putOffUntil({ at: clockTime(trace.next_attempt_at) })} />
    if (status === 'captured') return <Captured trace={trace} />
    if (status === 'suppressed') return <Note tone="warn" mark="suppressed" text={w.suppressedVerdict} more={trace.summary} />
    if (status === 'validation_failed') return <Refused trace={trace} />
    return null
  }
  const data = found.data?.found ? found.data : undefined
  const [first] = data?.next_actions ?? []
  return (
    <div class="note bad">
      <Mark name={status} />
      <p>
        {data && english() !== undefined ? (
          <Explained category={data.category} />
        ) : (
          <>
            <b>{data ? <SafeText text={data.plain_reason} /> : status.replaceAll('_', ' ')}</b> <span>{first}</span>
          </>
        )}
        {data?.provider_link && (
          <>
            {' '}
            <a href={data.provider_link} target="_blank" rel="noopener noreferrer">
              {w.providerHelp}
            </a>
          </>
        )}
      </p>
      {status !== 'complained' && mayAdminister.value && data?.suppress && !data.suppress.done && (
        <Suppress email={data.recipient ?? trace.to[0] ?? ''} />
      )}
    </div>
  )
}

/** Link to the approval page of an agent message that waits for a decision. */
function Awaited({ traceId }: { readonly traceId: string }): JSX.Element {
  const w = ownTexts()
  return (
    <div class="note warn">
      <Mark name="pending" />
      <p>
        <b>{w.waitsForApproval}</b>
      </p>
      <a class="button small" href={`/organizations/${organization.value?.id ?? ''}/approvals/${traceId}`}>
        {mayChange.value ? w.lookAndDecide : w.lookOnly}
      </a>
    </div>
  )
}

function Captured({ trace }: { readonly trace: Trace }): JSX.Element {
  const { outcome } = useReasons(trace)
  return (
    <Note
      tone="held"
      mark="captured"
      text={texts().capturedVerdict}
      more={outcome ?? trace.outcome_reason}
      isOurs={outcome !== undefined}
    />
  )
}

/** Reason of a refusal in the current language, followed by the verbatim error. */
function Refused({ trace }: { readonly trace: Trace }): JSX.Element {
  const { code } = trace.timeline.find(({ event }) => event === 'validation_failed')?.detail ?? {}
  const own = english() === undefined ? undefined : refusalReason(typeof code === 'string' ? code : null)
  return <Note tone="warn" mark="validation_failed" text={own ?? texts().refusedVerdict} more={trace.outcome_reason} />
}

interface NoteProps {
  readonly tone: string
  readonly mark: string
  readonly text: string
  readonly more?: string
  /** Whether `more` is in the current language. */
  readonly isOurs?: boolean
}

const Note = ({ tone, mark, text, more, isOurs = false }: NoteProps): JSX.Element => (
  <div class={`note ${tone}`}>
    <Mark name={mark} />
    <p>
      <b>{text}</b> <span lang={isOurs ? undefined : english()}>{more}</span>
    </p>
  </div>
)

/** Button that adds a suppression for the address, with undo. */
export function Suppress({ email }: { readonly email: string }): JSX.Element | null {
  const w = texts()
  const [isDone, setDone] = useState(false)
  const [isBusy, start] = useBusy()
  if (email === '') return null
  const run = async (): Promise<void> => {
    try {
      const { id } = await call('POST /v1/suppressions', { body: { email } })
      setDone(true)
      toast(
        w.suppressedNow({ email }),
        () => void call('DELETE /v1/suppressions/{id}', { path: { id } }).then(() => setDone(false), showFault),
      )
    } catch (error) {
      showFault(error)
    }
  }
  return isDone ? (
    <a href={link('/traces', { to: email })}>{w.otherMailTo}</a>
  ) : (
    <button class="button small" aria-disabled={isBusy} onClick={() => start(run)}>
      {w.suppressAddress}
    </button>
  )
}
