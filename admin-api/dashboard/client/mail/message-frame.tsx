/** HTML of a message in a sandboxed frame of fixed width. Scripts are blocked, and remote images load only on request. */
import type { JSX } from 'preact'
import type { CapturedMessage } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

export type FrameWidth = '375' | '768' | 'full'

/** Returns the path of the message view. The dashboard may run under another host than the public URL. */
export const pathOfView = ({ view_url: url }: Pick<CapturedMessage, 'view_url'>): string => new URL(url, location.origin).pathname

interface FrameProps {
  readonly view: string
  readonly width: FrameWidth
  readonly withImages: boolean
  /** Requests the dark colors of the message. A message without dark colors does not change. */
  readonly isDark?: boolean
}

export const MessageFrame = ({ view, width, withImages, isDark = false }: FrameProps): JSX.Element => (
  <iframe
    key={`${view} ${String(withImages)}`}
    class={`paper w-${width}${isDark ? ' dark' : ''}`}
    title={texts().messageAsHtml}
    sandbox="allow-popups allow-popups-to-escape-sandbox"
    referrerpolicy="no-referrer"
    src={`${view}/html${withImages ? '?images=1' : ''}`}
  />
)
