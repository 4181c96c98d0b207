/** What to paste into a web page; the key itself is never in it. */
import type { JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { copy, Dialog } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { PublishableKey } from '../wire/operations.ts'
import { words as allWords } from '../words/words.ts'
import { words } from './publishable-words.ts'

/** As JavaScript: what others wrote stands in it as JSON, and never ends the element around it. */
const literal = (text: string): string => JSON.stringify(text).replaceAll('<', String.raw`\u003c`)

const snippetOf = ({ allowed_to: [to = ''], captcha_provider: captcha }: PublishableKey): string => `<script type="module">
  const answer = await fetch(${literal(`${boot.baseUrl}/v1/messages`)}, {
    method: 'POST',
    headers: {
      Authorization: 'Bearer YOUR_KEY',
      'Content-Type': 'application/json',${captcha === null ? '' : "\n      'X-Service-Captcha-Token': token,"}
    },
    body: JSON.stringify({
      to: ${literal(to.startsWith('@') ? `office${to}` : to)},
      reply_to: visitorAddress,
      subject: 'Contact',
      text: visitorText,
    }),
  })
</script>`

export function SnippetDialog({
  publishable,
  onClose,
}: {
  readonly publishable: PublishableKey
  readonly onClose: () => void
}): JSX.Element {
  const [w, common] = [words(), allWords()]
  const title = w.snippetOf(plain(publishable.name || publishable.key_preview))
  const text = snippetOf(publishable)
  return (
    <Dialog title={title} onClose={onClose}>
      <div>
        <h2>{title}</h2>
        <p>{w.snippetText}</p>
        <p class="faint">{plain(publishable.allowed_origins.join(', '))}</p>
        <pre class="code" tabIndex={0}>
          {text}
        </pre>
        <footer>
          <button class="button quiet" onClick={onClose}>
            {common.close}
          </button>
          <button class="button primary" onClick={() => void copy(text)}>
            <Icon name="copy" />
            {common.copy}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}
