/** Reader of a captured message: HTML at three widths, text, source, headers, links, files and the reason for its capture. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { mayChange } from '../app/permissions.ts'
import { link, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { markRead } from './unread.ts'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import { MessageTabs } from '../mail/message-tabs.tsx'
import { Neighbours } from '../mail/neighbours.tsx'
import { saveFile } from '../mail/parts.tsx'
import { Recipients } from '../mail/recipients.tsx'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './captures-texts.ts'
import { neighbours } from './neighbours.ts'
import { Release } from './release.tsx'
import { WhyTab } from './why-captured.tsx'

interface ReaderProps {
  readonly inboxId: string
  readonly messageId: string
}

export function Reader({ inboxId, messageId }: ReaderProps): JSX.Element {
  const w = allTexts()
  const read = useRead('/v1/inboxes/{id}/messages/{message_id}', { path: { id: inboxId, message_id: messageId } }, { isShown: true })
  return (
    <Show read={read} reload={read.reload} failure={w.messageFailed}>
      {(message) => <Message message={message} inboxId={inboxId} />}
    </Show>
  )
}

function Message({ message, inboxId }: { readonly message: CapturedMessage; readonly inboxId: string }): JSX.Element {
  const path = { id: inboxId, message_id: message.id }
  return (
    <>
      <Head message={message} inboxId={inboxId} />
      <MessageTabs
        message={message}
        raw={(signal) => call('/v1/inboxes/{id}/messages/{message_id}/raw', { path }, { signal })}
        attachment={(index) => call('/v1/inboxes/{id}/messages/{message_id}/attachments/{index}', { path: { ...path, index } })}
        further={[{ id: 'why', label: allTexts().whyCaptured, content: () => <WhyTab message={message} /> }]}
      />
    </>
  )
}

function Head({ message, inboxId }: { readonly message: CapturedMessage; readonly inboxId: string }): JSX.Element {
  const w = allTexts()
  const own = texts()
  const [isReleasing, setReleasing] = useState(false)
  useEffect(() => markRead(message.trace_id, inboxId, true), [message.id])
  useKeys({ u: () => markRead(message.trace_id, inboxId, false) }, [message.id])
  const { before, after } = neighbours.value
  const others = message.addresses_seen.length - message.intended_to.length
  const path = { id: inboxId, message_id: message.id }
  const download = (): Promise<void> => saveFile(() => call('/v1/inboxes/{id}/messages/{message_id}/raw', { path }), `${message.id}.eml`)
  return (
    <header class="reader-head">
      <div>
        <a
          class="button quiet square back-button"
          aria-label={w.back}
          href={link(`/captures/${inboxId}`, { address: query.value.get('address') ?? '' })}
        >
          <Icon name="left" />
        </a>
        <h2 class="three-lines" title={plain(message.subject)}>
          <SafeText text={message.subject || w.noSubject} />
        </h2>
        <Neighbours before={before} after={after} />
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
        <SafeText text={message.intended_from || '<>'} /> {w.toWord} <Recipients all={message.intended_to} />{' '}
        {others > 0 && w.seenInHeaders({ count: others })} ·{' '}
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
          <Mark name="live" /> {own.releasedAt({ at: longTime(message.released.at) })}{' '}
          <a href={link(`/traces/${message.released.trace_id}`)}>{own.itsTrace}</a>
        </p>
      )}
      {isReleasing && <Release inboxId={inboxId} message={message} onClose={() => setReleasing(false)} />}
    </header>
  )
}
