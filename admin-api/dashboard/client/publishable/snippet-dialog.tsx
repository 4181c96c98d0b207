/** Dialog with the HTML or JavaScript to paste into a web page, its preview and the gates of the key. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ChooseField, copy, Dialog, Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { PublishableKey } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Gates } from './gates.tsx'
import { texts } from './publishable-texts.ts'
import { callSnippet, formSnippet, recipientOf } from './snippet.ts'

interface SnippetProps {
  readonly publishable: PublishableKey
  readonly onClose: () => void
}

export function SnippetDialog({ publishable, onClose }: SnippetProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { allowed_to: recipients } = publishable
  const [way, setWay] = useState<'form' | 'call'>('form')
  const [to, setTo] = useState(recipients[0] ?? '')
  const title = w.snippetOf({ name: plain(publishable.name || publishable.key_preview) })
  const text = way === 'form' ? formSnippet(publishable, to, w.contactForm) : callSnippet(publishable, to)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="snippet">
        <h2>{title}</h2>
        <p>{w.snippetText}</p>
        <Segments
          label={w.snippet}
          value={way}
          onChoose={setWay}
          choices={[
            { value: 'form', label: w.asForm },
            { value: 'call', label: w.asCall },
          ]}
        />
        {recipients.length > 1 && (
          <ChooseField
            label={w.goesTo}
            value={to}
            onChange={setTo}
            options={recipients.map((one) => [one, plain(recipientOf(one))] as const)}
          />
        )}
        {way === 'form' && <Preview />}
        <pre class="code" tabIndex={0}>
          {text}
        </pre>
        <h3>{w.howItIsGuarded}</h3>
        <Gates publishable={publishable} />
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

/** Preview of the form without page styles. It sends nothing. */
function Preview(): JSX.Element {
  const w = texts()
  const { address, message, send } = w.contactForm
  return (
    <figure class="snippet-preview">
      <figcaption class="label">{w.preview}</figcaption>
      <div inert>
        <label>
          {address} <input type="email" />
        </label>
        <label>
          {message} <textarea rows={3} />
        </label>
        <button type="button">{send}</button>
      </div>
    </figure>
  )
}
