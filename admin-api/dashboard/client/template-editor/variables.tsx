/** Variables of a template: used names, their schema, and the sample data of the preview. */
import type { JSX } from 'preact'
import { mayChange } from '../app/permissions.ts'
import { copy } from '../parts/controls.tsx'
import { CodeField } from './code-field.tsx'
import { parseObject, sampleFor, schemaWith, type Draft } from './draft.ts'
import { texts } from '../templates/template-texts.ts'
import type { Check } from './use-check.ts'

interface VariablesProps {
  readonly draft: Draft
  readonly check: Check
  readonly onSchema: (schema: string) => void
}

export function Variables({ draft, check, onSchema }: VariablesProps): JSX.Element {
  const w = texts()
  const { variables, sample, setSample } = check
  const isSchema = parseObject(draft.schema).isJson
  const isSample = parseObject(sample).isJson
  return (
    <div class="template-variables">
      <div>
        <h2 class="label">{w.used}</h2>
        {variables.length === 0 ? (
          <p class="faint">{w.usedNone}</p>
        ) : (
          <ul class="variable-list">
            {variables.map((name) => (
              <li key={name}>
                <button class="tag" onClick={() => void copy(`{{.${name}}}`)}>
                  <code>{`{{.${name}}}`}</code>
                </button>
              </li>
            ))}
          </ul>
        )}
        <p class="faint">{w.syntaxHint}</p>
      </div>
      <CodeField
        label={w.schema}
        value={draft.schema}
        onChange={onSchema}
        isReadOnly={!mayChange.value}
        isInvalid={!isSchema}
        hint={isSchema ? w.schemaHint : w.notJson}
        isShort
      />
      {mayChange.value && variables.length > 0 && isSchema && (
        <div class="actions">
          <button class="button small" onClick={() => onSchema(schemaWith(draft.schema, variables))}>
            {w.makeSchema}
          </button>
        </div>
      )}
      <CodeField
        label={w.sample}
        value={sample}
        onChange={setSample}
        isInvalid={!isSample}
        hint={isSample ? w.sampleHint : w.notJson}
        isShort
      />
      <div class="actions">
        <button class="button small" onClick={() => setSample(sampleFor(draft.schema, variables))}>
          {w.makeSample}
        </button>
      </div>
    </div>
  )
}
