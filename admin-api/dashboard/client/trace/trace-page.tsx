/** Page of a trace: verdict, timeline of decisions and replies, and tabs with the message and later events. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { go, query, linkHere } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { CopyButton, Tabs } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Trace } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Neighbours, useNeighbourKeys } from '../mail/neighbours.tsx'
import { DestinationTab, JsonTab, WebhooksTab } from './trace-tabs.tsx'
import { HeadersTab, MessageTab } from './trace-message.tsx'
import { Share } from './share.tsx'
import { Diagnosis } from '../diagnosis/diagnosis.tsx'
import { placeOf, type Place } from './trace-order.ts'
import { Suppress } from './verdict.tsx'
import { texts } from './trace-texts.ts'
import { isWhole, refreshMsOf, TraceHead, TraceTimeline } from './trace-timeline.tsx'

export function TracePage({ id }: { readonly id: string }): JSX.Element {
  const [w, own] = [allTexts(), texts()]
  const first = useRead('/v1/traces/{trace_id}', { path: { trace_id: id } }, { isShown: true })
  const read = useRead('/v1/traces/{trace_id}', { path: { trace_id: id } }, { every: refreshMsOf(first.data) ?? 30_000 })
  const latest = read.data ? read : first
  const trace = latest.data && isWhole(latest.data) ? latest.data : undefined
  const [isReplaying, setReplaying] = useState(false)
  const [isSharing, setSharing] = useState(false)
  const { list, before, after } = placeOf(id)
  const mayReplay = mayChange.value && trace !== undefined && isReplayable(trace)
  useTraceKeys({ list, before, after }, { s: () => setSharing(true), ...(mayReplay && { r: () => setReplaying(true) }) })
  const isDiagnosed = query.value.get('diagnose') === '1'
  const heading = (
    <>
      <a href={list}>{w.traces}</a>
      <code title={id}>
        <b>{id.slice(0, 8)}</b>
        <span class="wide-only">{id.slice(8)}</span>
      </code>
    </>
  )
  return (
    <>
      <TopBar
        title={trace ? plain(trace.subject) || w.noSubject : w.trace}
        heading={heading}
        beside={
          <>
            <CopyButton text={id} label={w.copyId} />
            <span class="wide-only">
              <Neighbours {...{ before, after }} />
            </span>
          </>
        }
      >
        {trace && trace.outcome !== 'refused' && (
          <a
            class="button quiet"
            href={linkHere({ diagnose: isDiagnosed ? '' : '1' })}
            aria-label={isDiagnosed ? own.hideDiagnosis : own.diagnose}
          >
            <Icon name="diagnose" />
            <span class="shell-label">{isDiagnosed ? own.hideDiagnosis : own.diagnose}</span>
          </a>
        )}
        {mayReplay && (
          <button class="button" aria-keyshortcuts={keyFor('r')} onClick={() => setReplaying(true)}>
            <Icon name="replay" />
            <span class="shell-label">{w.replay}</span>
          </button>
        )}
        {trace && (
          <button class="button" aria-keyshortcuts={keyFor('s')} aria-label={own.share} onClick={() => setSharing(true)}>
            <Icon name="share" />
            <span class="shell-label">{own.share}</span>
          </button>
        )}
      </TopBar>
      <div class="sheet">
        <Show read={latest} reload={first.reload} failure={w.traceFailed}>
          {(data) => isWhole(data) && <Whole trace={data} isDiagnosed={isDiagnosed} />}
        </Show>
      </div>
      {isSharing && trace && <Share id={trace.trace_id} onClose={() => setSharing(false)} />}
      {isReplaying && trace && <Replay trace={trace} onClose={() => setReplaying(false)} onDone={first.reload} />}
    </>
  )
}

/** `acts` maps keys to actions on the trace. */
function useTraceKeys({ list, before, after }: Place, acts: Readonly<Record<string, () => void>>): void {
  useNeighbourKeys(before, after)
  useKeys({ Escape: () => go(list), ...acts }, [list, Object.keys(acts).join(' ')])
}

/** Whether a replay is possible. It excludes delivered messages and messages that bounced after acceptance. */
const isReplayable = ({ outcome, status }: Trace): boolean => outcome === 'relayed' && (status === 'failed' || status === 'queued')

function Whole({ trace, isDiagnosed }: { readonly trace: Trace; readonly isDiagnosed: boolean }): JSX.Element {
  const w = allTexts()
  const message = useRead('/v1/traces/{trace_id}/message', { path: { trace_id: trace.trace_id } })
  const webhooks = useAll('/v1/webhooks/attempts', { query: { trace_id: trace.trace_id } })
  const tab = query.value.get('tab') ?? 'message'
  const tabs = [
    { id: 'message', label: w.message },
    { id: 'headers', label: w.headers, ...(message.data && { count: message.data.headers.length }) },
    { id: 'recipients', label: w.recipients, count: trace.recipients.length },
    { id: 'webhooks', label: w.webhooks, ...(webhooks.read.data && { count: webhooks.read.data.length }) },
    { id: 'destination', label: w.destination },
    { id: 'json', label: 'JSON' },
  ]
  const shown = tabs.some((one) => one.id === tab) ? tab : 'message'
  return (
    <>
      <div class="trace-head">
        <TraceHead trace={trace} isLong />
      </div>
      <div class="columns trace-columns">
        <section aria-label={w.timeline}>
          <TraceTimeline trace={trace}>{isDiagnosed && <Diagnosis trace={trace} />}</TraceTimeline>
        </section>
        <aside aria-label={w.details}>
          <Tabs label={w.details} tabs={tabs} value={shown} onChoose={(next) => go(linkHere({ tab: next }), { replaces: true })} />
          <div role="tabpanel" aria-label={tabs.find((one) => one.id === shown)?.label}>
            {shown === 'message' && <MessageTab trace={trace} read={message} />}
            {shown === 'headers' && <HeadersTab read={message} />}
            {shown === 'recipients' && <RecipientsTab trace={trace} />}
            {shown === 'webhooks' && <WebhooksTab list={webhooks} />}
            {shown === 'destination' && <DestinationTab trace={trace} />}
            {shown === 'json' && <JsonTab trace={trace} />}
          </div>
        </aside>
      </div>
    </>
  )
}

const RecipientsTab = ({ trace }: { readonly trace: Trace }): JSX.Element => (
  <ul class="recipients">
    {trace.recipients.map((recipient) => (
      <li key={recipient.address}>
        <span class="status">
          <Mark name={recipient.status} />
          <SafeText text={recipient.address} />
        </span>
        <span class="faint">
          {recipient.status.replaceAll('_', ' ')}
          {recipient.bcc && ' · Bcc'}
        </span>
        {recipient.reply && (
          <div class="wire">
            <i>{recipient.reply.code}</i> {recipient.reply.enhanced} <SafeText text={recipient.reply.text} />
          </div>
        )}
        {mayAdminister.value && !recipient.suppression && <Suppress email={recipient.address} />}
        {recipient.suppression && (
          <p class="soft">{allTexts().suppressedBecause({ reason: recipient.suppression.reason ?? recipient.suppression.source })}</p>
        )}
      </li>
    ))}
  </ul>
)

interface ReplayProps {
  readonly trace: Trace
  readonly onClose: () => void
  readonly onDone: () => void
}

/** Dialog that queues the message again for recipients that have not received it. It shows their number first. */
function Replay({ trace, onClose, onDone }: ReplayProps): JSX.Element {
  const w = allTexts()
  const [withUnknown, setWithUnknown] = useState(false)
  const without = trace.recipients.filter(({ status }) => status === 'failed' || status === 'bounced').length
  const run = async (): Promise<void> => {
    await call('POST /v1/traces/{trace_id}/retry', { path: { trace_id: trace.trace_id }, body: { include_unknown: withUnknown } })
    toast(w.queuedAgain)
    onDone()
    onClose()
  }
  return (
    <FormDialog title={w.replayQuestion} submit={w.replayNow} onClose={onClose} onSubmit={run}>
      {() => (
        <>
          <p>{w.replayText({ without, all: trace.recipients.length })}</p>
          <label class="check">
            <input type="checkbox" checked={withUnknown} onChange={(event) => setWithUnknown(event.currentTarget.checked)} />
            {w.replayUnknown}
          </label>
        </>
      )}
    </FormDialog>
  )
}
