/** Instructions for connecting an agent: the MCP address and the configuration of each client. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { copy, CopyButton, Pills } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './agents-texts.ts'

interface Client {
  readonly id: string
  readonly name: string
  /** Configuration file of the client. Undefined for a terminal command. */
  readonly file?: string
  readonly textOf: (url: string) => string
}

const json = (value: object): string => JSON.stringify(value, undefined, 2)
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const clients: readonly Client[] = [
  { id: 'claude', name: 'Claude Code', textOf: (url) => `claude mcp add --transport http postern ${url}` },
  { id: 'codex', name: 'Codex', textOf: (url) => `codex mcp add postern --url ${url}` },
  { id: 'cursor', name: 'Cursor', file: '~/.cursor/mcp.json', textOf: (url) => json({ mcpServers: { postern: { url } } }) },
  {
    id: 'vscode',
    name: 'VS Code',
    textOf: (url) => `code --add-mcp ${quoted(JSON.stringify({ name: 'postern', type: 'http', url }))}`,
  },
]

const generic = (): Client => ({
  id: 'json',
  name: texts().otherClient,
  file: 'mcp.json',
  textOf: (url) => json({ mcpServers: { postern: { type: 'http', url } } }),
})

export function Connect({ url }: { readonly url: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const all = [...clients, generic()]
  const chosen = all.find(({ id }) => id === query.value.get('client')) ?? all[0] ?? generic()
  const text = chosen.textOf(url)
  return (
    <div class="block">
      <h2>{w.connect}</h2>
      <p class="soft">{w.connectText}</p>
      <dl class="facts">
        <dt>{w.address}</dt>
        <dd>
          <code data-mcp>{url}</code>
          <CopyButton text={url} label={`${common.copy}: ${w.address}`} />
        </dd>
      </dl>
      <Pills
        label={w.client}
        value={chosen.id}
        onChoose={(id) => go(linkHere({ client: id === 'claude' ? '' : id }), { replaces: true })}
        pills={all.map(({ id, name }) => ({ value: id, label: name }))}
      />
      <p class="faint">{chosen.file === undefined ? w.inTerminal : w.inFile({ file: chosen.file })}</p>
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
      <div class="actions">
        <button class="button" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {common.copy}
        </button>
      </div>
    </div>
  )
}
