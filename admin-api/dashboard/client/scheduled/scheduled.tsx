/** Screen for scheduled messages, with actions that cancel, reschedule or send them now. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import { Pills } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { keyOfFocusedRow } from '../selection/selection.tsx'
import { State } from '../parts/states.tsx'
import { longTime, shortTime, utcTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { ScheduledSend } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Reschedule } from './reschedule.tsx'
import { texts } from './scheduled-texts.ts'

export default function Scheduled(): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const isCanceled = query.value.get('status') === 'canceled'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/messages/scheduled', { query: { ...project, status: isCanceled ? 'canceled' : 'queued' } })
  const [doing, setDoing] = useState<{ readonly what: What; readonly send: ScheduledSend }>()
  const [many, setMany] = useState<Many>()
  const rows = list.read.data ?? []
  useCancelKey(rows, (send) => setDoing({ what: 'cancel', send }))
  const next = isCanceled ? undefined : rows.map(({ send_at: at }) => at ?? '').sort()[0]
  const actions = (send: ScheduledSend): JSX.Element => <Actions send={send} onDo={(what) => setDoing({ what, send })} />
  return (
    <>
      <TopBar title={common.scheduled} />
      <div class="sheet">
        {next !== undefined && (
          <div class="say">
            <h2>{w.scheduledSay({ n: rows.length, at: longTime(next) })}</h2>
            <p>{w.scheduledText}</p>
          </div>
        )}
        <div class="filters">
          <Pills
            label={common.status}
            value={isCanceled ? 'canceled' : ''}
            onChoose={(status) => go(linkHere({ status }))}
            pills={[
              { value: '', label: w.waiting },
              { value: 'canceled', label: w.canceled },
            ]}
          />
        </div>
        <List
          label={common.scheduled}
          list={list}
          failure={w.scheduledFailed}
          keyOf={({ trace_id: id }) => id}
          nameOf={({ subject }) => plain(subject || common.noSubject)}
          bulk={
            mayChange.value &&
            !isCanceled &&
            ((chosen, done) => (
              <button class="button small danger" onClick={() => setMany({ sends: chosen, done })}>
                {w.cancelSend}
              </button>
            ))
          }
          empty={<State title={w.noScheduled} text={w.noScheduledText} />}
          columns={[
            { head: w.when, class: 'c-when', cell: (send) => <When send={send} /> },
            { head: w.recipient, cell: ({ to }) => <SafeText text={to.join(', ')} /> },
            { head: w.subject, class: 'strong', cell: (send) => <Subject send={send} /> },
            { head: common.status, class: 'c-outcome c-spare', cell: (send) => <SendStatus send={send} /> },
            { head: '', class: 'c-actions wide num', cell: actions },
          ]}
          narrow={(send) => [
            <Mark name={send.canceled_at === null ? 'queued' : 'canceled'} />,
            <Subject send={send} />,
            `${send.send_at === null ? '–' : longTime(send.send_at)} · ${plain(send.to.join(', '))}`,
            actions(send),
          ]}
        />
      </div>
      {doing?.what === 'cancel' && <Cancel send={doing.send} onClose={() => setDoing(undefined)} onDone={list.reload} />}
      {many && <CancelMany many={many} onClose={() => setMany(undefined)} onDone={list.reload} />}
      {doing?.what === 'move' && <Reschedule send={doing.send} onClose={() => setDoing(undefined)} onDone={list.reload} />}
      {doing?.what === 'now' && <SendNow send={doing.send} onClose={() => setDoing(undefined)} onDone={list.reload} />}
    </>
  )
}

/** Backspace cancels the message of the focused row. */
function useCancelKey(rows: readonly ScheduledSend[], cancel: (send: ScheduledSend) => void): void {
  const cancelFocused = (): void => {
    const send = rows.find(({ trace_id: id }) => id === keyOfFocusedRow())
    if (send && mayChange.value && send.canceled_at === null) cancel(send)
  }
  useKeys({ Backspace: cancelFocused }, [rows])
}

type What = 'now' | 'move' | 'cancel'

interface ActionsProps {
  readonly send: ScheduledSend
  readonly onDo: (what: What) => void
}

function Actions({ send, onDo }: ActionsProps): JSX.Element | null {
  const w = texts()
  if (!mayChange.value || send.canceled_at !== null) return null
  const subject = plain(send.subject || allTexts().noSubject)
  return (
    <span class="row-buttons">
      <button class="button small" onClick={() => onDo('now')} aria-label={`${w.sendNow}: ${subject}`}>
        {w.sendNow}
      </button>
      <button class="button small" onClick={() => onDo('move')} aria-label={`${w.reschedule}: ${subject}`}>
        {w.reschedule}
      </button>
      <button
        class="button small danger"
        onClick={() => onDo('cancel')}
        aria-label={`${w.cancelSend}: ${subject}`}
        aria-keyshortcuts={keyFor('Backspace')}
      >
        {w.cancelSend}
      </button>
    </span>
  )
}

const When = ({ send: { send_at: at } }: { readonly send: ScheduledSend }): JSX.Element =>
  at === null ? (
    <>–</>
  ) : (
    <time datetime={at} title={at}>
      {longTime(at)} <span class="faint">{utcTime(at)}</span>
    </time>
  )

const Subject = ({ send: { trace_id: id, subject } }: { readonly send: ScheduledSend }): JSX.Element => (
  <a href={link(`/traces/${id}`)}>
    <SafeText text={subject || allTexts().noSubject} />
  </a>
)

const SendStatus = ({ send: { canceled_at: at } }: { readonly send: ScheduledSend }): JSX.Element => (
  <span class="status">
    <Mark name={at === null ? 'queued' : 'canceled'} />
    {at === null ? texts().waiting : texts().canceledAt({ at: shortTime(at) })}
  </span>
)

interface Many {
  readonly sends: readonly ScheduledSend[]
  readonly done: () => void
}

function CancelMany({ many: { sends, done }, onClose, onDone }: Omit<CancelProps, 'send'> & { readonly many: Many }): JSX.Element {
  const w = texts()
  const cancel = async (): Promise<void> => {
    try {
      for (const { trace_id: id } of sends) await call('DELETE /v1/messages/scheduled/{trace_id}', { path: { trace_id: id } })
    } finally {
      done()
      onDone()
    }
    toast(w.canceledMany({ n: sends.length }))
    onClose()
  }
  return (
    <FormDialog
      title={w.cancelManyQuestion({ n: sends.length })}
      submit={w.cancelNow}
      close={w.keepIt}
      isDangerous
      onClose={onClose}
      onSubmit={cancel}
    >
      {() => <p>{w.cancelManyEffect}</p>}
    </FormDialog>
  )
}

function SendNow({ send, onClose, onDone }: CancelProps): JSX.Element {
  const w = texts()
  const leave = async (): Promise<void> => {
    await call('POST /v1/messages/scheduled/{trace_id}/send-now', { path: { trace_id: send.trace_id } })
    toast(w.sentNow)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.sendNowQuestion} submit={w.sendNow} onClose={onClose} onSubmit={leave}>
      {() => <p>{w.sendNowEffect({ to: plain(send.to.join(', ')), at: send.send_at === null ? '–' : longTime(send.send_at) })}</p>}
    </FormDialog>
  )
}

interface CancelProps {
  readonly send: ScheduledSend
  readonly onClose: () => void
  readonly onDone: () => void
}

function Cancel({ send, onClose, onDone }: CancelProps): JSX.Element {
  const w = texts()
  const cancel = async (): Promise<void> => {
    await call('DELETE /v1/messages/scheduled/{trace_id}', { path: { trace_id: send.trace_id } })
    toast(w.canceledNow)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.cancelQuestion} submit={w.cancelNow} close={w.keepIt} isDangerous onClose={onClose} onSubmit={cancel}>
      {() => <p>{w.cancelEffect({ to: plain(send.to.join(', ')), at: send.send_at === null ? '–' : longTime(send.send_at) })}</p>}
    </FormDialog>
  )
}
