/** Preview of the rendered message: desktop, phone, text and dark colors. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import type { Read } from '../app/query.ts'
import { ColorSwitch, isDarkMail } from '../mail/color-switch.tsx'
import { Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { FaultText, State } from '../parts/states.tsx'
import { bytes } from '../parts/time.ts'
import type { FormReplyPreview } from '../wire/api.d.ts'
import { texts } from '../templates/template-texts.ts'

const views = ['mail', 'phone', 'text'] as const

interface PreviewProps {
  readonly preview: Pick<FormReplyPreview, 'subject' | 'text' | 'html'> | null | undefined
  readonly read: Read<unknown>
  /** Whether the preview is based on an earlier draft. */
  readonly isStale: boolean
}

export function Preview({ preview, read, isStale }: PreviewProps): JSX.Element {
  const w = texts()
  const view = views.find((one) => one === query.value.get('view')) ?? 'mail'
  const isDark = isDarkMail()
  const set = (changes: Readonly<Record<string, string>>): void => go(linkHere(changes), { replaces: true })
  return (
    <section class="previewing" aria-label={w.preview}>
      <div class="reader-bar">
        <Segments
          label={w.previewAs}
          value={view}
          onChoose={(next) => set({ view: next === 'mail' ? '' : next })}
          choices={[
            { value: 'mail', label: w.full, icon: 'desktop' },
            { value: 'phone', label: w.phone, icon: 'phone' },
            { value: 'text', label: w.text, icon: 'traces' },
          ]}
        />
        {view !== 'text' && <ColorSwitch />}
        {view !== 'text' && preview?.html && <span class="remote">{w.size({ size: bytes(new Blob([preview.html]).size) })}</span>}
      </div>
      <p class="subject-line">
        <span class="faint">{w.subject}</span> <b>{preview?.subject ?? '…'}</b>
        {isStale && preview && <span class="tag warn">{w.stale}</span>}
      </p>
      {read.state === 'failed' && !preview && <State title={w.checkFailed} text={<FaultText fault={read.fault} />} />}
      {preview && view === 'text' && <TextView text={preview.text} />}
      {preview && view !== 'text' && <HtmlView html={preview.html} isPhone={view === 'phone'} isDark={isDark} />}
    </section>
  )
}

const TextView = ({ text }: { readonly text: string | null }): JSX.Element =>
  text === null || text === '' ? (
    <State title={texts().noText} text={texts().noTextText} />
  ) : (
    <div class="stage" tabIndex={0} role="group" aria-label={texts().framed}>
      <pre class="paper text">{text}</pre>
    </div>
  )

interface HtmlViewProps {
  readonly html: string | null
  readonly isPhone: boolean
  readonly isDark: boolean
}

function HtmlView({ html, isPhone, isDark }: HtmlViewProps): JSX.Element {
  const w = texts()
  if (html === null || html === '') return <State title={w.noHtml} text={w.noHtmlText} />
  return (
    <div class="stage" tabIndex={0} role="group" aria-label={w.framed}>
      {isPhone && (
        <div class="ruler w-375" aria-hidden="true">
          <span>0</span>
          <i />
          <span>375 px</span>
        </div>
      )}
      <Frames html={html} name={isPhone ? 'w-375' : 'w-full'} isDark={isDark} />
      {/<img\b[^>]*\bsrc\s*=\s*["']?https?:/i.test(html) && (
        <p class="faint stage-note">
          <Icon name="image" /> {w.remoteLater}
        </p>
      )}
      {isDark && <p class="faint stage-note">{w.darkHint}</p>}
    </div>
  )
}

interface FramesProps {
  readonly html: string
  readonly name: string
  readonly isDark: boolean
}

/**
 * Keeps the previous document until the next one has loaded. Each document gets a new frame, because navigation within a frame would add a
 * history entry.
 */
function Frames({ html, name, isDark }: FramesProps): JSX.Element {
  const [shown, setShown] = useState<string>()
  const key = `${isDark ? 'dark' : 'light'} ${html}`
  const frames = [...new Set([shown, key])].filter((one) => one !== undefined)
  return (
    <>
      {frames.map((one) => (
        <Frame
          key={one}
          html={one.slice(one.indexOf(' ') + 1)}
          name={`${name} ${one.slice(0, one.indexOf(' '))}`}
          isHidden={one !== shown}
          onLoad={() => one === key && setShown(key)}
        />
      ))}
    </>
  )
}

let made = 0

interface FrameProps {
  readonly html: string
  readonly name: string
  readonly isHidden: boolean
  readonly onLoad: () => void
}

function Frame({ html, name, isHidden, onLoad }: FrameProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null)
  const isSent = useRef(false)
  const [target] = useState(() => `draft-${String((made += 1))}`)
  useEffect(() => {
    isSent.current = true
    form.current?.submit()
  }, [])
  return (
    <>
      <form ref={form} action="/view/draft" method="post" target={target} hidden>
        <input type="hidden" name="html" value={html} />
      </form>
      <iframe
        name={target}
        class={`paper draft ${name}${isHidden ? ' waiting' : ''}`}
        title={texts().framed}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        referrerpolicy="no-referrer"
        aria-hidden={isHidden}
        tabIndex={isHidden ? -1 : undefined}
        onLoad={() => isSent.current && onLoad()}
      />
    </>
  )
}
