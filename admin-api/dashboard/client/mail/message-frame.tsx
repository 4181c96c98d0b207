/** The HTML of a message in a sandboxed frame of fixed width: no script, nothing of this page, and remote images only when wanted. */
import type { JSX } from 'preact'
import type { CapturedMessage } from '../wire/operations.ts'
import { words } from '../words/words.ts'

export type FrameWidth = '375' | '768' | 'full'

/** The view of a message under this very address, whatever the public one is. */
export const pathOfView = ({ view_url: url }: Pick<CapturedMessage, 'view_url'>): string => new URL(url, location.origin).pathname

interface FrameProps {
  readonly view: string
  readonly width: FrameWidth
  readonly withImages: boolean
  /** Asks the mail for its dark colours; one without them stays as it is. */
  readonly isDark?: boolean
}

export const MessageFrame = ({ view, width, withImages, isDark = false }: FrameProps): JSX.Element => (
  <iframe
    key={`${view} ${String(withImages)}`}
    class={`paper w-${width}${isDark ? ' dark' : ''}`}
    title={words().messageAsHtml}
    sandbox="allow-popups allow-popups-to-escape-sandbox"
    referrerpolicy="no-referrer"
    src={`${view}/html${withImages ? '?images=1' : ''}`}
  />
)
