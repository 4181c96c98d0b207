/** Message of a trace: HTML, text, source, files and header. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, query } from '../app/location.ts'
import { useRead, type Reading } from '../app/query.ts'
import { Headers } from '../mail/headers.tsx'
import { MessageFrame, pathOfView } from '../mail/message-frame.tsx'
import { remoteImagesOf } from '../mail/message-links.ts'
import { Files, ReadingNotes, saveFile, Source } from '../mail/parts.tsx'
import { RemoteImages } from '../mail/remote-images.tsx'
import { Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { FaultText, Show } from '../parts/states.tsx'
import { bytes } from '../parts/time.ts'
import type { Trace, TraceMessage } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './trace-texts.ts'

interface MessageProps {
  readonly trace: Trace
  readonly read: Reading<TraceMessage>
}

/** Renders the message, or explains its absence. A message deleted by retention is not a failure. */
const Kept = ({
  read,
  children,
}: Pick<MessageProps, 'read'> & { readonly children: (message: TraceMessage) => JSX.Element }): JSX.Element =>
  read.state === 'failed' && read.fault.nextAction === 'read_trace' ? (
    <div class="note">
      <Mark name="none" />
      <p>
        <b>{texts().noMessage}</b> <FaultText fault={read.fault} />
      </p>
    </div>
  ) : (
    <Show read={read} reload={read.reload} failure={allTexts().messageFailed} rows={3}>
      {children}
    </Show>
  )

export const HeadersTab = ({ read }: Pick<MessageProps, 'read'>): JSX.Element => (
  <div class="block">
    <Kept read={read}>{({ headers }) => <Headers headers={headers} />}</Kept>
  </div>
)

export function MessageTab({ trace, read }: MessageProps): JSX.Element {
  const w = allTexts()
  return (
    <div class="block">
      <dl class="facts">
        <dt>{w.from}</dt>
        <dd>
          <SafeText text={trace.from || trace.mail_from} />
        </dd>
        <dt>{w.to}</dt>
        <dd>
          <SafeText text={trace.to.join(', ')} />
        </dd>
        <dt>Message-ID</dt>
        <dd class="mono">
          <SafeText text={trace.message_id} />
        </dd>
        <dt>{w.size}</dt>
        <dd>{bytes(trace.size)}</dd>
      </dl>
      <Kept read={read}>{(message) => <Message message={message} projectId={trace.project_id} />}</Kept>
    </div>
  )
}

const views = ['html', 'text', 'source'] as const

function Message({ message, projectId }: { readonly message: TraceMessage; readonly projectId: string }): JSX.Element {
  const [w, own] = [allTexts(), texts()]
  const [withImages, setWithImages] = useState(false)
  const wanted = views.find((name) => name === query.value.get('view'))
  const first = message.html === '' ? 'text' : 'html'
  const view = wanted === undefined || (wanted === 'html' && message.html === '') ? first : wanted
  const path = { trace_id: message.trace_id }
  const raw = (signal?: AbortSignal): Promise<Blob> => call('/v1/traces/{trace_id}/message/raw', { path }, signal && { signal })
  const labels = { html: 'HTML', text: w.text, source: w.source }
  return (
    <>
      <ReadingNotes {...message} />
      <div class="message-bar">
        <Segments
          label={w.views}
          value={view}
          onChoose={(next) => go(linkHere({ view: next === first ? '' : next }), { replaces: true })}
          choices={views.filter((name) => name !== 'html' || message.html !== '').map((value) => ({ value, label: labels[value] }))}
        />
        <button class="button small" onClick={() => void saveFile(raw, `${message.trace_id}.eml`)}>
          <Icon name="download" />
          {own.saveMessage}
        </button>
        {view === 'html' && <RemoteImages count={remoteImagesOf(message.html)} isLoaded={withImages} onLoad={() => setWithImages(true)} />}
      </div>
      {view === 'html' && <MessageFrame view={pathOfView(message)} width="full" withImages={withImages} />}
      {view === 'text' && (
        <pre class="paper text" tabIndex={0}>
          <SafeText text={message.text} />
        </pre>
      )}
      {view === 'source' && <Source id={message.trace_id} read={raw} />}
      {message.attachments.length > 0 && (
        <>
          <h3>{w.attachments}</h3>
          <Files
            attachments={message.attachments}
            read={(index) => call('/v1/traces/{trace_id}/message/attachments/{index}', { path: { ...path, index } })}
          />
        </>
      )}
      {message.capture_id !== null && <InReader captureId={message.capture_id} projectId={projectId} />}
    </>
  )
}

/** Link to the message in the catch-all inbox of its project. */
function InReader({ captureId, projectId }: { readonly captureId: string; readonly projectId: string }): JSX.Element | null {
  const { data } = useRead('/v1/inboxes/lookup', { query: { address: '*', project: projectId } })
  return data?.inbox ? (
    <p>
      <a href={link(`/captures/${data.inbox.id}/${captureId}`)}>{allTexts().openInReader}</a>
    </p>
  ) : null
}
