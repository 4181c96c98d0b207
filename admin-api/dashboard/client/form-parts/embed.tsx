/** How a form comes to visitors: its own page, and the HTML for pages of others with what their policies must allow. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import type { PartProps } from '../forms/part-props.ts'
import { copy, Segments, TextField } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { Show } from '../parts/states.tsx'
import { makeFormEmbedSnippet, type FormEmbedSnippet } from '../wire/operations.ts'
import { words } from './parts-words.ts'

const modes = ['link', 'iframe', 'script', 'popup'] as const

/** An address that is whole; while it is typed it is none. */
const originIn = (text: string): string | undefined => (URL.canParse(text) && new URL(text).origin === text ? text : undefined)

export default function EmbedPart({ form }: PartProps): JSX.Element {
  const w = words()
  const mode = modes.find((one) => one === query.value.get('mode')) ?? 'link'
  const typed = query.value.get('origin') ?? ''
  const origin = originIn(typed)
  const read = useRead(
    makeFormEmbedSnippet,
    { path: { id: form.id }, body: { mode, ...(origin !== undefined && { origin }) } },
    { isShown: true },
  )
  return (
    <div class="form-sheet" role="group" aria-label={w.way} tabIndex={0}>
      <Segments
        label={w.way}
        value={mode}
        onChoose={(next) => go(linkHere({ mode: next === 'link' ? '' : next }), { replaces: true })}
        choices={modes.map((value) => ({ value, label: w.ways[value] }))}
      />
      {mode !== 'link' && (
        <div class="form">
          <TextField
            label={w.origin}
            hint={w.originHint}
            type="url"
            value={typed}
            onChange={(next) => go(linkHere({ origin: next }), { replaces: true })}
          />
        </div>
      )}
      <Show read={read} reload={read.reload} failure={w.snippetFailed} rows={3}>
        {(snippet) => <Snippet snippet={snippet} text={mode === 'link' ? snippet.url : snippet.html} />}
      </Show>
    </div>
  )
}

function Snippet({ snippet, text }: { readonly snippet: FormEmbedSnippet; readonly text: string }): JSX.Element {
  const w = words()
  const { content_security_policy: policy, notes } = snippet
  return (
    <div class="form-parts">
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
      <div class="actions">
        <button type="button" class="button" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {w.copySnippet}
        </button>
      </div>
      {notes.map((note) => (
        <p key={note} class="note warn">
          <Mark name="warning" />
          <span lang="en">{note}</span>
        </p>
      ))}
      {policy.length > 0 && (
        <>
          <h2>{w.policy}</h2>
          <pre class="code wrap" tabIndex={0}>
            {policy.join('\n')}
          </pre>
        </>
      )}
    </div>
  )
}
