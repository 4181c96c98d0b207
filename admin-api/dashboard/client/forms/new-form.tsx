/** Form creation from a starter, from HTML, or from an exported definition. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { Segments, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import type { Form } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './forms-texts.ts'

type Way = 'starter' | 'html' | 'json'
type Starter = keyof ReturnType<typeof texts>['starters']

export function NewForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [way, setWay] = useState<Way>('starter')
  const [starter, setStarter] = useState<Starter>('contact')
  const [name, setName] = useState('')
  const [source, setSource] = useState('')
  const [isBroken, setBroken] = useState(false)
  const usual = way === 'starter' && starter !== 'blank' ? w.starters[starter].name : ''
  const project = projectId.value === undefined ? {} : { project_id: projectId.value }
  const create = async (): Promise<void> => {
    const named = { name: name.trim() === '' ? usual : name, ...project }
    const definition = way === 'json' ? definitionIn(source) : undefined
    setBroken(way === 'json' && !definition)
    if (way === 'json' && !definition) return
    const made: Form = definition
      ? await call('POST /v1/forms/import', { body: { definition, ...(name.trim() !== '' && { name }), ...project } })
      : await call('POST /v1/forms', {
          body: { ...named, ...(way === 'html' ? { html: source } : starter !== 'blank' && { template: starter }) },
        })
    go(link(`/forms/${made.id}`), { replaces: true })
  }
  return (
    <FormDialog title={w.newForm} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField
            label={allTexts().name}
            value={name}
            onChange={setName}
            placeholder={usual}
            hint={w.nameHint}
            fault={fault?.fields.get('name')}
          />
          <Segments
            label={w.beginWith}
            value={way}
            onChoose={(next) => {
              setWay(next)
              setBroken(false)
            }}
            choices={[
              { value: 'starter', label: w.starter },
              { value: 'html', label: w.html },
              { value: 'json', label: w.json },
            ]}
          />
          {way === 'starter' && <Starters chosen={starter} onChoose={setStarter} />}
          {way === 'html' && (
            <TextField label={w.htmlLabel} hint={w.htmlHint} isLong value={source} onChange={setSource} fault={fault?.fields.get('html')} />
          )}
          {way === 'json' && <Exported source={source} onChange={setSource} isBroken={isBroken} />}
        </>
      )}
    </FormDialog>
  )
}

interface ExportedProps {
  readonly source: string
  readonly onChange: (source: string) => void
  readonly isBroken: boolean
}

function Exported({ source, onChange, isBroken }: ExportedProps): JSX.Element {
  const w = texts()
  return (
    <>
      <TextField label={w.jsonLabel} hint={w.jsonHint} isLong value={source} onChange={onChange} fault={isBroken ? w.notJson : undefined} />
      <label class="field">
        <span class="label">{w.chooseFile}</span>
        <input type="file" accept="application/json,.json" onChange={(event) => void readInto(event.currentTarget, onChange)} />
      </label>
    </>
  )
}

interface StartersProps {
  readonly chosen: Starter
  readonly onChoose: (starter: Starter) => void
}

function Starters({ chosen, onChoose }: StartersProps): JSX.Element {
  const w = texts()
  return (
    <div class="kinds" role="group" aria-label={w.beginWith}>
      {(Object.keys(w.starters) as Starter[]).map((one) => {
        const { name, text } = w.starters[one]
        return (
          <button key={one} type="button" aria-pressed={one === chosen} onClick={() => onChoose(one)}>
            <b>{name}</b>
            <span>{text}</span>
          </button>
        )
      })}
    </div>
  )
}

async function readInto({ files }: HTMLInputElement, take: (text: string) => void): Promise<void> {
  const [file] = files ?? []
  if (file) take(await file.text())
}

/** Returns the definition of an export or a bare definition. */
function definitionIn(text: string): Record<string, unknown> | undefined {
  try {
    const given: unknown = JSON.parse(text)
    if (typeof given !== 'object' || given === null) return undefined
    const { definition = given } = given as { definition?: unknown }
    return definition as Record<string, unknown>
  } catch {
    return undefined
  }
}
