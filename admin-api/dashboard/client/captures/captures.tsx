/** Screen for captured mail: inboxes, their messages with live updates, and the reader. */
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { ApiFault, call } from '../app/api.ts'
import { useListKeys } from '../selection/list-keys.ts'
import { isStreaming } from '../app/live.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { useNews } from '../app/new-entries.ts'
import { areProjectsKnown, homeProject } from '../app/projects.ts'
import { useList, type Listing, type Read } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { isUnread } from './unread.ts'
import { Icon } from '../parts/icon.tsx'
import { Older } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { NewPill } from '../parts/new-pill.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { CapturedMessageSummary, Inbox } from '../wire/api.d.ts'
import type { Input } from '../wire/route.ts'
import { useTyped } from '../parts/controls.tsx'
import { texts } from '../texts/texts.ts'
import { AboutInbox } from './about-inbox.tsx'
import { texts as own } from './captures-texts.ts'
import { Inboxes } from './inbox-list.tsx'
import { neighbours } from './neighbours.ts'
import { NewInbox } from './new-inbox.tsx'
import { Reader } from './reader.tsx'
import { isMakingNew, mayChange } from '../app/permissions.ts'

export default function Captures({ rest: [inboxId, messageId] }: ScreenProps): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const inboxes = useAll('/v1/inboxes', { query: project })
  const [isLive, setLive] = useState(true)
  const isKnown = inboxId !== undefined || areProjectsKnown.value // the default inbox depends on the projects
  const read: Read<readonly Inbox[]> = isKnown ? inboxes.read : { state: 'loading' }
  const chosen = inboxId ?? firstOf(read.data ?? [])?.id
  const isMaking = isMakingNew(mayChange)
  return (
    <>
      <TopBar title={w.captures} isLive={isLive && inboxes.read.state !== 'failed'}>
        {mayChange.value && (
          <a class="button" href={linkHere({ new: '1' })}>
            <Icon name="plus" />
            <span class="shell-label">{w.newInbox}</span>
          </a>
        )}
      </TopBar>
      <div class={messageId === undefined ? 'mailbox' : 'mailbox reading'}>
        <Show read={read} reload={inboxes.reload} failure={w.inboxesFailed}>
          {(rows) =>
            rows.length === 0 || chosen === undefined ? (
              <State title={w.noInboxes} text={w.noInboxesText} />
            ) : (
              <>
                <Inboxes inboxes={inboxes} chosen={chosen} />
                <Messages key={chosen} inboxId={chosen} chosen={messageId} onLive={setLive} />
                <section class="reader" aria-label={w.message}>
                  {messageId === undefined ? (
                    <State title={w.nothingChosen} text={w.nothingChosenText} />
                  ) : (
                    <Reader key={messageId} inboxId={chosen} messageId={messageId} />
                  )}
                </section>
              </>
            )
          }
        </Show>
      </div>
      {isMaking && <NewInbox onClose={() => go(linkHere({ new: '' }), { replaces: true })} onDone={inboxes.reload} />}
    </>
  )
}

/** Returns the catch-all inbox of the default project, else any catch-all inbox, else the first inbox. */
function firstOf(list: readonly Inbox[]): Inbox | undefined {
  const catching = list.filter(({ address_pattern: pattern }) => pattern === '*')
  return catching.find(({ project_id: id }) => id === homeProject()?.id) ?? catching[0] ?? list[0]
}

interface MessagesProps {
  readonly inboxId: string
  readonly chosen: string | undefined
  readonly onLive: (isLive: boolean) => void
}

function Messages({ inboxId, chosen, onLive }: MessagesProps): JSX.Element {
  const w = texts()
  const wanted = query.value.get('address') ?? ''
  const [typed, setTyped] = useTyped(wanted)
  const input = { path: { id: inboxId }, query: { ...(wanted !== '' && { address: wanted }) } }
  const list = useList('/v1/inboxes/{id}/messages', input)
  const rows = list.read.data ?? []
  const placeOf = (one: CapturedMessageSummary | undefined): string | undefined =>
    one && link(`/captures/${inboxId}/${one.id}`, { address: wanted, tab: query.value.get('tab') ?? undefined })
  const open = (one: CapturedMessageSummary): void => go(placeOf(one) ?? '')
  useLayoutEffect(() => {
    const at = rows.findIndex(({ id }) => id === chosen)
    neighbours.value = at < 0 ? {} : { before: rows[at - 1] && placeOf(rows[at - 1]), after: rows[at + 1] && placeOf(rows[at + 1]) }
  }, [rows, chosen, query.value])
  const close = chosen === undefined ? undefined : () => go(link(`/captures/${inboxId}`, { address: wanted }))
  useListKeys({ rows, isOpen: ({ id }) => id === chosen, onOpen: open, onClose: close, search: 'recipient' }, [chosen])
  return (
    <section class="messages" aria-label={w.messages}>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          go(linkHere({ address: typed.trim() }))
        }}
      >
        <input
          id="recipient"
          class="input"
          type="search"
          aria-label={w.searchRecipients}
          placeholder={w.searchRecipients}
          value={typed}
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      <AboutInbox inboxId={inboxId} />
      <Arrivals inboxId={inboxId} input={input} list={list} onLive={onLive} />
      <div class="message-list">
        <Show read={list.read} reload={list.reload} failure={w.messagesFailed}>
          {(messages) =>
            messages.length === 0 ? (
              <Empty wanted={wanted} />
            ) : (
              <MessageRows messages={messages} inboxId={inboxId} chosen={chosen} wanted={wanted} />
            )
          }
        </Show>
        <Older list={list} />
      </div>
    </section>
  )
}

interface ArrivalsProps extends Pick<MessagesProps, 'inboxId' | 'onLive'> {
  readonly input: Input<'/v1/inboxes/{id}/messages'>
  readonly list: Listing<CapturedMessageSummary>
}

/** Pill with the number of new messages. An empty list shows new messages at once. */
function Arrivals({ inboxId, input, list, onLive }: ArrivalsProps): JSX.Element {
  const rows = list.read.state === 'ready' ? list.read.data : undefined
  const news = useNews({ list: 'captures', route: '/v1/inboxes/{id}/messages', input, rows })
  // without an event stream, a long poll waits for new mail
  const newest = isStreaming.value || !rows ? undefined : (rows[0]?.id ?? '')
  const hasNew = useWait(inboxId, newest, list.reload, onLive)
  useEffect(() => {
    if (rows?.length === 0 && news.added > 0) list.reload()
  }, [news, rows])
  if (!hasNew || news.added > 0) return <NewPill {...news} onShow={list.reload} />
  return (
    <button class="new-pill" onClick={list.reload}>
      <Icon name="up" />
      {texts().newMail}
    </button>
  )
}

const Empty = ({ wanted }: { readonly wanted: string }): JSX.Element =>
  wanted === '' ? (
    <State title={texts().inboxEmpty} text={texts().inboxEmptyText} />
  ) : (
    <State title={texts().noMailTo({ address: wanted })} text={texts().exactAddress} drawing={<Icon name="search" />}>
      <div class="actions">
        <a class="button" href={linkHere({ address: '' })}>
          {texts().clearAll}
        </a>
      </div>
    </State>
  )

interface MessageRowsProps {
  readonly messages: readonly CapturedMessageSummary[]
  readonly inboxId: string
  readonly chosen: string | undefined
  readonly wanted: string
}

const MessageRows = ({ messages, inboxId, chosen, wanted }: MessageRowsProps): JSX.Element => (
  <ul>
    {messages.map(({ id, trace_id: traceId, intended_to: to, subject, captured_at: at, capture_reason: reason }) => (
      <li key={id}>
        <a
          class={isUnread(traceId, at) ? 'unread' : undefined}
          href={link(`/captures/${inboxId}/${id}`, { address: wanted })}
          aria-current={id === chosen ? 'true' : undefined}
        >
          {isUnread(traceId, at) && <span class="hidden">{own().unread}</span>}
          <span class="cut" title={plain(to.join(', '))}>
            <SafeText text={to[0] ?? ''} />
            {to.length > 1 && ` +${String(to.length - 1)}`}
          </span>
          <time datetime={at} title={exactTime(at)}>
            {shortTime(at, true)}
          </time>
          <b class="cut">
            <SafeText text={subject || texts().noSubject} />
          </b>
          <span class="held" title={reason}>
            <Mark name={reason === 'captured.sandbox_destination' ? 'sandbox' : 'captured'} />
          </span>
        </a>
      </li>
    ))}
  </ul>
)

const waitSeconds = 50
const pauseMs = 5000

/** Waits with long polls for a message newer than `newest`. Reloads an empty list; for other lists it returns true. */
function useWait(inboxId: string, newest: string | undefined, reload: () => void, onLive: (isLive: boolean) => void): boolean {
  const [hasNew, setHasNew] = useState(false)
  useEffect(() => {
    setHasNew(false)
    if (newest === undefined) return onLive(true)
    const aborter = new AbortController()
    const began = new Date().toISOString()
    const wait = async (): Promise<void> => {
      while (!aborter.signal.aborted) {
        try {
          const query = { since: newest === '' ? began : newest, timeout: waitSeconds }
          const answer = await call('POST /v1/inboxes/{id}/wait', { path: { id: inboxId }, query }, { signal: aborter.signal })
          onLive(true)
          if ('timeout' in answer) continue
          if (newest === '') return reload()
          return setHasNew(true)
        } catch (error) {
          if (aborter.signal.aborted) return
          onLive(false)
          if (error instanceof ApiFault && error.status >= 400 && error.status < 429) return
          await new Promise((done) => setTimeout(done, pauseMs))
        }
      }
    }
    void wait()
    return () => aborter.abort()
  }, [inboxId, newest])
  return hasNew
}
