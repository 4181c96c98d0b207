/** Test of the draft: the service validates the answers and stores nothing. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import { DraftFrame } from '../form-designer/draft-frame.tsx'
import type { PartProps } from '../forms/part-props.ts'
import { Segments } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { State } from '../parts/states.tsx'
import { texts } from './parts-texts.ts'

export default function TrialPart({ editing: { check } }: PartProps): JSX.Element {
  const w = texts()
  const [turn, setTurn] = useState(0)
  const { definition } = check
  if (!definition) return <State title={w.cannotTest} />
  const languages = [definition.locale, ...Object.keys(definition.translations)]
  const lang = languages.find((one) => one === query.value.get('lang')) ?? definition.locale
  return (
    <section class="canvas trial" aria-label={w.livePreview}>
      <div class="reader-bar">
        <p>{w.testText}</p>
        {languages.length > 1 && (
          <Segments
            label={w.language}
            value={lang}
            onChoose={(next) => go(linkHere({ lang: next === definition.locale ? '' : next }), { replaces: true })}
            choices={languages.map((value) => ({ value, label: value }))}
          />
        )}
        <button type="button" class="button small" onClick={() => setTurn(turn + 1)}>
          <Icon name="refresh" />
          {w.again}
        </button>
      </div>
      <div class="stage" tabIndex={0} role="group" aria-label={w.livePreview}>
        <div class="drawn">
          <DraftFrame key={turn} definition={definition} lang={lang} title={w.livePreview} />
        </div>
      </div>
    </section>
  )
}
