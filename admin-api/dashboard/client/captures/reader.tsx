/** One captured message: as HTML at three widths, as text, its source, headers, links and files, and why it was captured. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { bind, keyFor } from '../app/keys.ts'
import { mayChange } from '../app/permissions.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { markRead } from './unread.ts'
import { Segments, Tabs } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { ColorSwitch, isDarkMail } from '../mail/color-switch.tsx'
import { Headers } from '../mail/headers.tsx'
import { MessageFrame, pathOfView, type FrameWidth } from '../mail/message-frame.tsx'
import { linksOf, remoteImagesOf } from '../mail/message-links.ts'
import { Files, Links, saveFile, Source } from '../mail/parts.tsx'
import { RemoteImages } from '../mail/remote-images.tsx'
import { getInboxAttachment, getInboxMessage, getRawInboxMessage, type CapturedMessage } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './captures-words.ts'
import { neighbours } from './neighbours.ts'
import { Release } from './release.tsx'
import { WhyTab } from './why-captured.tsx'

interface ReaderProps {
  readonly inboxId: string
  readonly messageId: string
}

export function Reader({ inboxId, messageId }: ReaderProps): JSX.Element {
  const w = allWords()
  const read = useRead(getInboxMessage, { path: { id: inboxId, message_id: messageId } }, { isShown: true })
  return (
    <Show read={read} reload={read.reload} failure={w.messageFailed}>
      {(message) => <Message message={message} inboxId={inboxId} />}
    </Show>
  )
}

function Message({ message, inboxId }: { readonly message: CapturedMessage; readonly inboxId: string }): JSX.Element {
  const w = allWords()
  const links = linksOf(message)
  const path = { id: inboxId, message_id: message.id }
  const tabs = [
    ...(message.html === '' ? [] : [{ id: 'html', label: 'HTML' }]),
    { id: 'text', label: w.text },
    { id: 'source', label: w.source },
    { id: 'headers', label: w.headers, count: message.headers.length },
    { id: 'links', label: w.links, count: links.length },
    { id: 'files', label: w.attachments, count: message.attachments.length },
    { id: 'why', label: w.whyCaptured },
  ]
  const wanted = query.value.get('tab')
  const tab = tabs.find(({ id }) => id === wanted)?.id ?? tabs[0]?.id ?? 'text'
  return (
    <>
      <Head message={message} inboxId={inboxId} />
      <Tabs label={w.views} tabs={tabs} value={tab} onChoose={(next) => go(linkHere({ tab: next }), { replaces: true })} />
      <div role="tabpanel" tabIndex={0} aria-label={tabs.find(({ id }) => id === tab)?.label} class="reader-tab">
        {message.unreadable !== undefined && (
          <div class="note warn">
            <Mark name="warning" />
            <p lang="en">{message.unreadable}</p>
          </div>
        )}
        {tab === 'html' && <Html message={message} />}
        {tab === 'text' && (
          <pre class="paper text" tabIndex={0}>
            <SafeText text={message.text} />
          </pre>
        )}
        {tab === 'source' && <Source id={message.id} read={(signal) => call(getRawInboxMessage, { path }, { signal })} />}
        {tab === 'headers' && <Headers headers={message.headers} />}
        {tab === 'links' && <Links links={links} />}
        {tab === 'files' && message.attachments.length === 0 && <State title={w.noAttachments} />}
        {tab === 'files' && message.attachments.length > 0 && (
          <Files
            attachments={message.attachments}
            read={(index) => call(getInboxAttachment, { path: { ...path, index: String(index) } })}
          />
        )}
        {tab === 'why' && <WhyTab message={message} />}
      </div>
    </>
  )
}

function Head({ message, inboxId }: { readonly message: CapturedMessage; readonly inboxId: string }): JSX.Element {
  const w = allWords()
  const own = words()
  const [isReleasing, setReleasing] = useState(false)
  useEffect(() => {
    markRead(message.trace_id, inboxId, true)
    return bind({ u: () => markRead(message.trace_id, inboxId, false) })
  }, [message.id])
  const others = message.addresses_seen.length - message.intended_to.length
  const path = { id: inboxId, message_id: message.id }
  const download = (): Promise<void> => saveFile(() => call(getRawInboxMessage, { path }), `${message.id}.eml`)
  return (
    <header class="reader-head">
      <div>
        <a class="button quiet square back-button" aria-label={w.back} href={link(`/captures/${inboxId}`)}>
          <Icon name="left" />
        </a>
        <h2>
          <SafeText text={message.subject || w.noSubject} />
        </h2>
        <Neighbours />
        {mayChange.value && !message.released && (
          <button class="button" onClick={() => setReleasing(true)}>
            <Icon name="destinations" />
            {own.release}
          </button>
        )}
        <button
          class="button quiet square"
          aria-label={own.markUnread}
          title={own.markUnread}
          aria-keyshortcuts={keyFor('u')}
          onClick={() => markRead(message.trace_id, inboxId, false)}
        >
          <Icon name="captures" />
        </button>
        <button class="button quiet square" aria-label={w.saveMessage} title={w.saveMessage} onClick={() => void download()}>
          <Icon name="download" />
        </button>
      </div>
      <p class="soft">
        <SafeText text={message.intended_from || '<>'} /> {w.toWord}{' '}
        <b class="ink">
          <SafeText text={message.intended_to.slice(0, 4).join(', ')} />
        </b>{' '}
        {others > 0 && w.seenInHeaders(others)} ·{' '}
        <time datetime={message.captured_at} title={message.captured_at}>
          {longTime(message.captured_at)}
        </time>
      </p>
      <p>
        <span class="tag held">
          <Mark name={message.capture_reason === 'captured.sandbox_destination' ? 'sandbox' : 'captured'} />
          {message.capture_reason}
        </span>{' '}
        <a href={link(`/traces/${message.trace_id}`)}>{w.trace}</a>
      </p>
      {message.released && (
        <p>
          <Mark name="live" /> {own.releasedAt(longTime(message.released.at))}{' '}
          <a href={link(`/traces/${message.released.trace_id}`)}>{own.itsTrace}</a>
        </p>
      )}
      {isReleasing && <Release inboxId={inboxId} message={message} onClose={() => setReleasing(false)} />}
    </header>
  )
}

/** From one message to the next without going back to the list. */
const Neighbours = (): JSX.Element => {
  const w = words()
  const { before, after } = neighbours.value
  const places = [
    [before, w.before, 'up', '['],
    [after, w.after, 'down', ']'],
  ] as const
  return (
    <span class="neighbours">
      {places.map(([href, label, icon, key]) => (
        <button
          key={key}
          class="button quiet square"
          aria-label={label}
          title={label}
          aria-disabled={href === undefined}
          aria-keyshortcuts={keyFor(key)}
          onClick={() => href !== undefined && go(href)}
        >
          <Icon name={icon} />
        </button>
      ))}
    </span>
  )
}

function Html({ message }: { readonly message: CapturedMessage }): JSX.Element {
  const w = allWords()
  const [withImages, setWithImages] = useState(false)
  const width = (query.value.get('width') ?? 'full') as FrameWidth
  const remote = remoteImagesOf(message.html)
  return (
    <>
      <div class="reader-bar">
        <Segments
          label={w.width}
          value={width}
          onChoose={(next) => go(linkHere({ width: next === 'full' ? '' : next }), { replaces: true })}
          choices={[
            { value: '375', label: '375', icon: 'phone' },
            { value: '768', label: '768', icon: 'tablet' },
            { value: 'full', label: w.full, icon: 'desktop' },
          ]}
        />
        <ColorSwitch />
        <RemoteImages count={remote} isLoaded={withImages} onLoad={() => setWithImages(true)} />
      </div>
      <div class="stage" tabIndex={0} role="group" aria-label={w.messageAsHtml}>
        {width !== 'full' && (
          <div class={`ruler w-${width}`} aria-hidden="true">
            <span>0</span>
            <i />
            <span>{width} px</span>
          </div>
        )}
        <MessageFrame view={pathOfView(message)} width={width} withImages={withImages} isDark={isDarkMail()} />
      </div>
    </>
  )
}
