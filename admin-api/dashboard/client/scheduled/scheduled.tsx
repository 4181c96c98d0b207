/** Messages that wait for their time, and the way to stop one. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { longTime, shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { cancelScheduledSend, listScheduledSends, type ScheduledSend } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './scheduled-words.ts'

export default function Scheduled(): JSX.Element {
  const [w, common] = [words(), allWords()]
  const isCanceled = query.value.get('status') === 'canceled'
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList(listScheduledSends, { query: { ...project, status: isCanceled ? 'canceled' : 'queued', limit: '50' } })
  const [doing, setDoing] = useState<ScheduledSend>()
  const rows = list.read.data ?? []
  const next = isCanceled ? undefined : rows.map(({ send_at: at }) => at ?? '').sort()[0]
  const actions = (send: ScheduledSend): JSX.Element | string =>
    mayChange.value && send.canceled_at === null ? (
      <button
        class="button small danger"
        onClick={() => setDoing(send)}
        aria-label={`${w.cancelSend}: ${plain(send.subject || common.noSubject)}`}
      >
        {w.cancelSend}
      </button>
    ) : (
      ''
    )
  return (
    <>
      <TopBar title={common.scheduled} />
      <div class="sheet">
        {next !== undefined && (
          <div class="say">
            <h2>{w.scheduledSay(rows.length, longTime(next))}</h2>
            <p>{w.scheduledText}</p>
          </div>
        )}
        <div class="filters">
          <div class="pills" role="group" aria-label={common.status}>
            <button aria-pressed={!isCanceled} onClick={() => go(linkHere({ status: '' }))}>
              {w.waiting}
            </button>
            <button aria-pressed={isCanceled} onClick={() => go(linkHere({ status: 'canceled' }))}>
              {w.canceled}
            </button>
          </div>
        </div>
        <List
          label={common.scheduled}
          list={list}
          failure={w.scheduledFailed}
          keyOf={({ trace_id: id }) => id}
          empty={<State title={w.noScheduled} text={w.noScheduledText} />}
          columns={[
            { head: w.when, class: 'c-when', cell: (send) => <When send={send} /> },
            { head: w.recipient, cell: ({ to }) => <SafeText text={to.join(', ')} /> },
            { head: w.subject, class: 'strong', cell: (send) => <Subject send={send} /> },
            { head: common.status, class: 'c-outcome', cell: (send) => <SendStatus send={send} /> },
            { head: '', class: 'c-destination num', cell: actions },
          ]}
          narrow={(send) => [
            <Mark name={send.canceled_at === null ? 'queued' : 'canceled'} />,
            <Subject send={send} />,
            `${send.send_at === null ? '–' : longTime(send.send_at)} · ${plain(send.to.join(', '))}`,
            actions(send),
          ]}
        />
      </div>
      {doing && <Cancel send={doing} onClose={() => setDoing(undefined)} onDone={list.reload} />}
    </>
  )
}

const When = ({ send: { send_at: at } }: { readonly send: ScheduledSend }): JSX.Element =>
  at === null ? (
    <>–</>
  ) : (
    <time datetime={at} title={at}>
      {longTime(at)}
    </time>
  )

const Subject = ({ send: { trace_id: id, subject } }: { readonly send: ScheduledSend }): JSX.Element => (
  <a href={link(`/traces/${id}`)}>
    <SafeText text={subject || allWords().noSubject} />
  </a>
)

const SendStatus = ({ send: { canceled_at: at } }: { readonly send: ScheduledSend }): JSX.Element => (
  <span class="status">
    <Mark name={at === null ? 'queued' : 'canceled'} />
    {at === null ? words().waiting : words().canceledAt(shortTime(at))}
  </span>
)

interface CancelProps {
  readonly send: ScheduledSend
  readonly onClose: () => void
  readonly onDone: () => void
}

function Cancel({ send, onClose, onDone }: CancelProps): JSX.Element {
  const w = words()
  const cancel = async (): Promise<void> => {
    await call(cancelScheduledSend, { path: { trace_id: send.trace_id } })
    toast(w.canceledNow)
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.cancelQuestion} submit={w.cancelNow} close={w.keepIt} isDangerous onClose={onClose} onSubmit={cancel}>
      {() => <p>{w.cancelEffect(plain(send.to.join(', ')), send.send_at === null ? '–' : longTime(send.send_at))}</p>}
    </FormDialog>
  )
}
