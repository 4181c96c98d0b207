/** Timeline entries for routing, suppressions and later reports. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, save } from '../app/api.ts'
import { mayAdminister } from '../app/permissions.ts'
import { showFault } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { useReasons } from '../reasons/reasons.ts'
import type { Trace } from '../wire/api.d.ts'
import { language } from '../texts/language.ts'
import { texts } from '../texts/texts.ts'
import { EntrySentence, useSentence } from '../timeline/entry-sentence.tsx'

type Entry = Trace['timeline'][number]
const english = (): string | undefined => (language.value === 'en' ? undefined : 'en')

/** Routing decisions, each with its result. */
export function RouteEntry({ entry, trace }: { readonly entry: Entry; readonly trace: Trace }): JSX.Element {
  const w = texts()
  const id = typeof entry.detail['destination_id'] === 'string' ? entry.detail['destination_id'] : undefined
  const { outcome, outcome_cause: cause } = trace
  const reasons = useReasons(trace, id ?? null)
  const isLive = outcome === 'relayed'
  const steps: { readonly isGood: boolean; readonly text: JSX.Element | string }[] = [
    {
      isGood: outcome !== 'captured.anonymous_project',
      text: outcome === 'captured.anonymous_project' ? w.projectAnonymous : w.projectClaimed,
    },
    { isGood: id !== undefined, text: reasons.route ?? <span lang={english()}>{entry.message}</span> },
    ...(id === undefined || !isLive || cause !== null
      ? []
      : [
          {
            isGood: true,
            text: (
              <>
                <b>
                  <SafeText text={reasons.destination ?? id} />
                </b>{' '}
                {w.isLive}
              </>
            ),
          },
        ]),
    ...(isLive && cause === null
      ? []
      : [{ isGood: isLive, text: reasons.outcome ?? <span lang={english()}>{trace.outcome_reason}</span> }]),
  ]
  return (
    <>
      <h3>
        {isLive ? w.routedRelayed : w.routedCaptured} <span>{trace.route.by.replaceAll('_', ' ')}</span>
      </h3>
      <ul class="decisions">
        {steps.map(({ isGood, text }, i) => (
          <li key={i}>
            <span class={isGood ? 'good' : 'soft'}>
              <Icon name={isGood ? 'check' : 'close'} />
            </span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

export function SuppressedEntry({ entry, trace }: { readonly entry: Entry; readonly trace: Trace }): JSX.Element {
  const w = texts()
  const { detail, event, message } = entry
  const own = useSentence({ entry, trace })
  const [isGone, setGone] = useState(false)
  const id = typeof detail['suppression_id'] === 'string' ? detail['suppression_id'] : undefined
  const email = typeof detail['recipient'] === 'string' ? detail['recipient'] : undefined
  const remove = async (): Promise<void> => {
    if (id === undefined || email === undefined) return
    try {
      await call('DELETE /v1/suppressions/{id}', { path: { id } })
      setGone(true)
      toast(w.unsuppressed({ email }), () => void call('POST /v1/suppressions', { body: { email } }).then(() => setGone(false)))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <>
      <h3>
        {w.events.suppressed} <span>{event === 'auto_suppressed' ? w.lateAnnotation : ''}</span>
      </h3>
      <p>
        {own ?? (
          <span lang={english()}>
            <SafeText text={message} />
          </span>
        )}{' '}
        {event === 'auto_suppressed' && mayAdminister.value && id !== undefined && !isGone && (
          <button class="as-link" onClick={() => void remove()}>
            {w.removeSuppression}
          </button>
        )}
      </p>
    </>
  )
}

/** A report after the delivery, with the verbatim diagnostic. */
export function ReportEntry({ entry, trace }: { readonly entry: Entry; readonly trace: Trace }): JSX.Element {
  const w = texts()
  const { event, detail } = entry
  const text = (name: string): string => (typeof detail[name] === 'string' || typeof detail[name] === 'number' ? String(detail[name]) : '')
  const tone = event === 'delivered' ? 'good' : event === 'deferred' || event === 'bounce_unparsed' ? 'warn' : 'bad'
  const diagnostic = text('diagnostic')
  const reportId = text('report_id')
  const read = async (): Promise<void> => {
    try {
      const mail = await call('/v1/traces/{trace_id}/reports/{report_id}', { path: { trace_id: trace.trace_id, report_id: reportId } })
      await save(mail, `report-${reportId}.eml`)
    } catch (error) {
      showFault(error)
    }
  }
  const title = Object.hasOwn(w.events, event) ? w.events[event as keyof typeof w.events] : event
  return (
    <>
      <h3>
        {title} {text('bounce') !== '' && <span>{text('bounce')}</span>}{' '}
        <span>{[text('source'), text('remote_mta')].filter(Boolean).join(', ')}</span>
      </h3>
      {diagnostic === '' ? (
        <EntrySentence entry={entry} trace={trace} />
      ) : (
        <div class={`wire ${tone}`}>
          {!diagnostic.startsWith(text('smtp_code')) && <i>{text('smtp_code')} </i>}
          <SafeText text={diagnostic} />
        </div>
      )}
      {detail['verified'] === false && <p class="warn">{w.notVerified}</p>}
      {reportId !== '' && (
        <button class="as-link" onClick={() => void read()}>
          {w.saveReport}
        </button>
      )}
    </>
  )
}
