/** "API call" drawer: the call of this screen for curl, Node and an agent, with its response. It never contains a key. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { shownCall, type ShownCall } from '../app/api.ts'
import { link } from '../app/location.ts'
import { facts } from '../wire/facts.ts'
import { toolOf } from '../wire/tool-call.ts'
import { texts } from '../texts/texts.ts'
import { curlOf, nodeOf } from '../app/call-examples.ts'
import { Dialog, Segments, copy } from './controls.tsx'
import { Icon } from './icon.tsx'

/** Returns the response as JSON with only the first entry of a list and the number of the others. */
function shortened(answer: unknown): string {
  if (answer === undefined) return ''
  const list = (answer as { data?: unknown[] }).data
  const shown = Array.isArray(list) && list.length > 1 ? { ...(answer as object), data: [list[0], `… ${String(list.length - 1)}`] } : answer
  const text = JSON.stringify(shown, undefined, 2)
  return text.length > maxShown ? `${text.slice(0, maxShown)}\n…` : text
}

const maxShown = 4000

export default function ApiCallDrawer({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [language, setLanguage] = useState<'curl' | 'node' | 'tool'>('curl')
  const shown = shownCall.value
  const [id, scope = '', known] = (shown && facts[shown.route]) ?? []
  const tool = shown && toolOf(known, shown.input)
  const example = shown && { ...shown, isOpen: scope === '' }
  const text = example && (language === 'tool' && tool !== undefined ? tool : language === 'node' ? nodeOf(example) : curlOf(example))
  return (
    <Dialog title={w.asApiCall} kind="drawer" onClose={onClose}>
      <header>
        <h2>{w.asApiCall}</h2>
        <button class="button quiet square" aria-label={w.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="inside">
        {shown && text !== undefined ? (
          <>
            {scope !== '' && (
              <p>
                {w.apiCallText} <code class="tag">{scope}</code>
              </p>
            )}
            <div class="actions">
              <Segments
                label={w.language}
                choices={[
                  { value: 'curl', label: 'curl' },
                  { value: 'node', label: 'Node' },
                  ...(tool === undefined ? [] : [{ value: 'tool' as const, label: w.mcpTool }]),
                ]}
                value={language === 'tool' && tool === undefined ? 'curl' : language}
                onChoose={setLanguage}
              />
              <button class="button small" onClick={() => void copy(text)}>
                <Icon name="copy" />
                {w.copy}
              </button>
            </div>
            <pre class="code" tabIndex={0}>
              {text}
            </pre>
            <p class="faint">
              <code>$KEY</code>{' '}
              {scope === 'operator' ? (
                w.operatorKeyStandsFor
              ) : (
                <>
                  {w.keyStandsFor} <a href={link('/settings/keys')}>{w.createKey}</a>
                </>
              )}
            </p>
            {shown.status !== undefined && <Answer shown={shown} />}
          </>
        ) : (
          <p>{w.noApiCall}</p>
        )}
      </div>
      <footer>
        <a class="button quiet" href={link(id === undefined ? '/docs/api' : `/docs/api/${id}`)} onClick={onClose}>
          {w.apiReference}
        </a>
        <button class="button" onClick={onClose}>
          {w.close}
        </button>
      </footer>
    </Dialog>
  )
}

const Answer = ({ shown: { status, milliseconds, answer } }: { readonly shown: ShownCall }): JSX.Element => (
  <>
    <div class="actions">
      <h3>{texts().answer}</h3> <span class="tag good">{status}</span>
      <span class="faint">{milliseconds} ms</span>
    </div>
    <pre class="code" tabIndex={0}>
      {shortened(answer)}
    </pre>
  </>
)
