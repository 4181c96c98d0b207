/** Parts of a stored message: source, files, links and reading notes. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { save } from '../app/api.ts'
import { asFault, showFault, type Read } from '../app/query.ts'
import { CopyButton } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { bytes } from '../parts/time.ts'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { FoundLink } from './message-links.ts'

const maxSourceShown = 256 * 1024

interface SourceProps {
  /** Message id. A new id reads the source again. */
  readonly id: string
  readonly read: (signal: AbortSignal) => Promise<Blob>
}

export function Source({ id, read: ask }: SourceProps): JSX.Element {
  const w = texts()
  const [read, setRead] = useState<Read<{ readonly text: string; readonly size: number }>>({ state: 'loading' })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const aborter = new AbortController()
    ask(aborter.signal)
      .then(async (file) => setRead({ state: 'ready', data: { text: await file.slice(0, maxSourceShown).text(), size: file.size } }))
      .catch((error: unknown) => !aborter.signal.aborted && setRead({ state: 'failed', fault: asFault(error) }))
    return () => aborter.abort()
  }, [id, turn])
  return (
    <Show read={read} reload={() => setTurn(turn + 1)} failure={w.messageFailed}>
      {({ text, size }) => (
        <>
          {size > maxSourceShown && <p class="faint">{w.firstPart({ size: bytes(maxSourceShown) })}</p>}
          <pre class="code wrap" tabIndex={0}>
            <SafeText text={text.replaceAll('\r\n', '\n')} />
          </pre>
        </>
      )}
    </Show>
  )
}

/** Links as plain text, so that viewing them is safe. Each can be copied. */
export const Links = ({ links }: { readonly links: readonly FoundLink[] }): JSX.Element =>
  links.length === 0 ? (
    <State title={texts().noLinks} />
  ) : (
    <ul class="links">
      {links.map(({ address, where }) => (
        <li key={address}>
          <span class="tag">{where}</span>
          <code>
            <SafeText text={address} />
          </code>
          <CopyButton text={address} label={texts().copy} />
        </li>
      ))}
    </ul>
  )

export type StoredFile = Pick<CapturedMessage['attachments'][number], 'filename' | 'content_type' | 'size' | 'inline'>

interface FilesProps {
  readonly attachments: readonly StoredFile[]
  readonly read: (index: number) => Promise<Blob>
}

/** Attachments. Files can only be downloaded, never opened in the dashboard. */
export const Files = ({ attachments, read }: FilesProps): JSX.Element => (
  <ul class="links">
    {attachments.map(({ filename, content_type: type, size, inline }, index) => (
      <li key={index}>
        <Icon name="clip" />
        <span>
          <b>
            <SafeText text={filename} />
          </b>{' '}
          <span class="faint">
            <SafeText text={type} />, {bytes(size)}
            {inline && `, ${texts().inline}`}
          </span>
        </span>
        <button class="button small" onClick={() => void saveFile(() => read(index), filename)}>
          <Icon name="download" />
          {texts().download}
        </button>
      </li>
    ))}
  </ul>
)

/** Downloads a file, or shows the error. */
export async function saveFile(read: () => Promise<Blob>, name: string): Promise<void> {
  try {
    await save(await read(), name)
  } catch (error) {
    showFault(error)
  }
}

interface NotesProps {
  readonly unreadable?: string | null | undefined
  readonly reading_notes: readonly { readonly message: string }[]
}

/** Parts of the message that the parser could not decode, omitted or guessed. */
export function ReadingNotes({ unreadable, reading_notes: notes }: NotesProps): JSX.Element | null {
  const sentences = unreadable == null ? notes.map(({ message }) => message) : [unreadable]
  if (sentences.length === 0) return null
  return (
    <div class="note warn">
      <Mark name="warning" />
      <ul lang="en">
        {sentences.map((sentence) => (
          <li key={sentence}>
            <SafeText text={sentence} />
          </li>
        ))}
      </ul>
    </div>
  )
}
