/** How a form comes to visitors: its own page, and the HTML for pages of others with what their policies must allow. */
import type { JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { go, linkHere, query } from '../app/location.ts'
import type { PartProps } from '../forms/part-props.ts'
import { copy, Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { words } from './parts-words.ts'

const modes = ['link', 'iframe'] as const

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

export default function EmbedPart({ form, editing }: PartProps): JSX.Element {
  const w = words()
  const mode = modes.find((one) => one === query.value.get('mode')) ?? 'link'
  const url = `${boot.baseUrl}/f/${form.public_id}`
  const title = escaped(editing.definition.name)
  const text =
    mode === 'link'
      ? url
      : `<iframe src="${url}?embed=1" title="${title}" loading="lazy" style="width:100%;border:0;min-height:480px"></iframe>`
  return (
    <div class="form-sheet" role="group" aria-label={w.way} tabIndex={0}>
      {form.status !== 'published' && (
        <p class="note">
          <Mark name="pending" />
          {w.notLiveYet}
        </p>
      )}
      <Segments
        label={w.way}
        value={mode}
        onChoose={(next) => go(linkHere({ mode: next === 'link' ? '' : next }), { replaces: true })}
        choices={modes.map((value) => ({ value, label: w.ways[value] }))}
      />
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
      <div class="actions">
        <button type="button" class="button" onClick={() => void copy(text)}>
          <Icon name="copy" />
          {w.copySnippet}
        </button>
      </div>
    </div>
  )
}
