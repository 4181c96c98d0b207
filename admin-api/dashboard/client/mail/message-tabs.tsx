/** Tabs of a stored message: HTML at three widths, text, source, header, links, files and further tabs. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import { Segments, Tabs } from '../parts/controls.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { ColorSwitch, isDarkMail } from './color-switch.tsx'
import { Headers } from './headers.tsx'
import { MessageFrame, pathOfView, type FrameWidth } from './message-frame.tsx'
import { linksOf, remoteImagesOf } from './message-links.ts'
import { Files, Links, ReadingNotes, Source, type StoredFile } from './parts.tsx'
import { RemoteImages } from './remote-images.tsx'

/** Fields of a captured or received message that the tabs use. */
export interface ReadableMessage extends Pick<CapturedMessage, 'id' | 'html' | 'text' | 'headers' | 'reading_notes' | 'view_url'> {
  readonly attachments: readonly StoredFile[]
  readonly unreadable?: string | null | undefined
}

interface FurtherTab {
  readonly id: string
  readonly label: string
  readonly content: () => JSX.Element
}

interface MessageTabsProps {
  readonly message: ReadableMessage
  readonly raw: (signal: AbortSignal) => Promise<Blob>
  readonly attachment: (index: number) => Promise<Blob>
  /** Additional tabs after the common ones. */
  readonly further: readonly FurtherTab[]
}

export function MessageTabs({ message, raw, attachment, further }: MessageTabsProps): JSX.Element {
  const w = texts()
  const links = linksOf(message)
  const tabs = [
    ...(message.html === '' ? [] : [{ id: 'html', label: 'HTML' }]),
    { id: 'text', label: w.text },
    { id: 'source', label: w.source },
    { id: 'headers', label: w.headers, count: message.headers.length },
    { id: 'links', label: w.links, count: links.length },
    { id: 'files', label: w.attachments, count: message.attachments.length },
    ...further,
  ]
  const wanted = query.value.get('tab')
  const tab = tabs.find(({ id }) => id === wanted)?.id ?? tabs[0]?.id ?? 'text'
  return (
    <>
      <Tabs label={w.views} tabs={tabs} value={tab} onChoose={(next) => go(linkHere({ tab: next }), { replaces: true })} />
      <div role="tabpanel" tabIndex={0} aria-label={tabs.find(({ id }) => id === tab)?.label} class="reader-tab">
        <ReadingNotes {...message} />
        {tab === 'html' && <Html message={message} />}
        {tab === 'text' && (
          <pre class="paper text" tabIndex={0}>
            <SafeText text={message.text} />
          </pre>
        )}
        {tab === 'source' && <Source id={message.id} read={raw} />}
        {tab === 'headers' && <Headers headers={message.headers} />}
        {tab === 'links' && <Links links={links} />}
        {tab === 'files' && message.attachments.length === 0 && <State title={w.noAttachments} />}
        {tab === 'files' && message.attachments.length > 0 && <Files attachments={message.attachments} read={attachment} />}
        {further.find(({ id }) => id === tab)?.content()}
      </div>
    </>
  )
}

function Html({ message }: { readonly message: ReadableMessage }): JSX.Element {
  const w = texts()
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
