/** History of a submission: receipt, notifications and details about the sender. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { everyMs, useChanges } from '../app/live.ts'
import { mayChange } from '../app/permissions.ts'
import { useRead, useTicks } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { exactTime, longTime, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { attempt } from '../submissions/changes.ts'
import { texts } from '../submissions/submissions-texts.ts'
import type { FormNotice, FormSubmission } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Outcome } from './outcome.tsx'

const lookAgainMs = 15_000

export function History({ submission }: { readonly submission: FormSubmission }): JSX.Element {
  const w = texts()
  const { id, form_id: formId, version, created_at: created, updated_at: updated, origin, ip, unknown_keys: unknown } = submission
  const notices = useRead('/v1/forms/{id}/submissions/{submission_id}/notifications', { path: { id: formId, submission_id: id } })
  useTicks(everyMs(lookAgainMs), notices.refresh)
  return (
    <section class="sub-section sub-history" aria-label={w.history}>
      <h3>{w.history}</h3>
      <ul>
        <li>{w.received({ at: longTime(created), version })}</li>
        {notices.state === 'failed' && <li>{w.noticesFailed({ why: notices.fault.message })}</li>}
        {notices.data?.data.map((notice) => (
          <li key={notice.trace_id ?? notice.attempt_id}>
            <Notice notice={notice} />
          </li>
        ))}
        {updated !== created && <li>{w.changedAt({ at: longTime(updated) })}</li>}
        {origin !== null && (
          <li>
            {w.fromPage} <SafeText text={origin} />
          </li>
        )}
        {ip !== null && (
          <li>
            {w.fromAddress}{' '}
            <code title={ip}>
              <SafeText text={ip.slice(0, 40)} />
            </code>
          </li>
        )}
        {unknown > 0 && <li>{w.unknownKeys({ n: unknown })}</li>}
      </ul>
    </section>
  )
}

function Notice({ notice: { at, to, trace_id: traceId, attempt_id: attemptId } }: { readonly notice: FormNotice }): JSX.Element {
  const w = texts()
  const when = (
    <time datetime={at} title={exactTime(at)}>
      {shortTime(at, true)}
    </time>
  )
  if (traceId !== null)
    return (
      <>
        {when} {w.notified} <SafeText text={to ?? ''} /> <Outcome traceId={traceId} />
      </>
    )
  return (
    <>
      {when} {w.webhook} {attemptId !== null && <Delivery id={attemptId} />}
    </>
  )
}

/** Webhook delivery of the submission, with a button that repeats it. */
function Delivery({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/webhooks/attempts/{id}', { path: { id } })
  useChanges('webhook_deliveries', read.reload)
  const [isBusy, start] = useBusy()
  const again = async (): Promise<void> => {
    if (!(await attempt(() => call('POST /v1/webhooks/attempts/{id}/redeliver', { path: { id } })))) return
    toast(allTexts().redelivered)
    read.reload()
  }
  if (!read.data) return <span class="faint">{read.state === 'failed' ? read.fault.message : '…'}</span>
  const { status, last_status_code: code, last_error: error, attempt_count: count } = read.data
  return (
    <>
      <span class="status">
        <Mark name={status} /> {status}
      </span>{' '}
      <span class="faint">
        {w.attempts({ n: count })}
        {code !== null && ` · HTTP ${String(code)}`}
        {error !== null && (
          <>
            {' · '}
            <SafeText text={error} />
          </>
        )}
      </span>
      {mayChange.value && status !== 'succeeded' && status !== 'pending' && (
        <button class="button quiet small" type="button" aria-disabled={isBusy} onClick={() => start(again)}>
          {allTexts().redeliver}
        </button>
      )}
    </>
  )
}
