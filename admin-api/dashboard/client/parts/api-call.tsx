/** "API call" drawer: the call of this screen for curl, Node and an agent, with its response. It never contains a key. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { shownCall, type ShownCall } from '../app/api.ts'
import { link } from '../app/location.ts'
import { addressOf } from '../wire/operation.ts'
import { toolOf } from '../wire/tool-call.ts'
import { texts } from '../texts/texts.ts'
import { Dialog, Segments, copy } from './controls.tsx'
import { Icon } from './icon.tsx'

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function curlOf({ operation, input }: Pick<ShownCall, 'operation' | 'input'>): string {
  const address = boot.baseUrl + addressOf(operation, input)
  const hasBody = input.body !== undefined || input.file !== undefined
  const method = operation.method === 'GET' || (operation.method === 'POST' && hasBody) ? '' : ` -X ${operation.method}`
  const lines = [
    `curl${method} ${/[?&]/.test(address) ? quoted(address) : address}`,
    ...(operation.scope === '' ? [] : ['-H "Authorization: Bearer $KEY"']),
  ]
  if (input.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(input.body, undefined, 2))}`)
  if (input.file) lines.push(`-H 'Content-Type: ${input.file.type}'`, `--data-binary ${quoted(`@${input.file.name}`)}`)
  return lines.join(' \\\n  ')
}

export function nodeOf({ operation, input }: Pick<ShownCall, 'operation' | 'input'>): string {
  const headers = [
    ...(operation.scope === '' ? [] : ['Authorization: `Bearer ${process.env.KEY}`']),
    ...(input.body === undefined ? [] : ["'Content-Type': 'application/json'"]),
    ...(input.file ? [`'Content-Type': '${input.file.type}'`] : []),
  ]
  const options = [
    ...(operation.method === 'GET' ? [] : [`  method: '${operation.method}',`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },`]),
    ...(input.body === undefined ? [] : [`  body: JSON.stringify(${JSON.stringify(input.body, undefined, 2).replaceAll('\n', '\n  ')}),`]),
    ...(input.file ? [`  body: await readFile(${JSON.stringify(input.file.name)}),`] : []),
  ]
  const address = `'${boot.baseUrl}${addressOf(operation, input)}'`
  return [
    ...(input.file ? ["import { readFile } from 'node:fs/promises'", ''] : []),
    ...(options.length === 0
      ? [`const response = await fetch(${address})`]
      : [`const response = await fetch(${address}, {`, ...options, '})']),
    'console.log(await response.json())',
  ].join('\n')
}

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
  const tool = shown && toolOf(shown.operation, shown.input)
  const text = shown && (language === 'tool' && tool !== undefined ? tool : language === 'node' ? nodeOf(shown) : curlOf(shown))
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
            {shown.operation.scope !== '' && (
              <p>
                {w.apiCallText} <code class="tag">{shown.operation.scope}</code>
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
              {shown.operation.scope === 'operator' ? (
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
        <a class="button quiet" href={link(shown ? `/docs/api/${shown.operation.id}` : '/docs/api')} onClick={onClose}>
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
