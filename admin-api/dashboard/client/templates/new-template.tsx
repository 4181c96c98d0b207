/** Form that creates a template from a starter. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { slugOf, starters, type Starter } from './starters.ts'
import { texts } from './template-texts.ts'

export function NewTemplate({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [starter, setStarter] = useState<Starter | undefined>(starters[0])
  const [name, setName] = useState('')
  const [slug, setSlug] = useState('')
  const chosenSlug = slug === '' ? slugOf(name) : slug
  const create = async (): Promise<void> => {
    if (!starter) return
    const { subject, text, html, schema } = starter
    const content = { subject_tmpl: subject, text_tmpl: text, html_tmpl: html === '' ? null : html, schema_json: schema }
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { id } = await call('POST /v1/templates', { body: { name, slug: chosenSlug, ...content, ...project } })
    go(link(`/templates/${id}`), { replaces: true })
  }
  return (
    <FormDialog title={allTexts().newTemplate} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField
            label={w.slug}
            value={chosenSlug}
            onChange={setSlug}
            hint={w.slugHint}
            fault={fault?.fields.get('slug') ?? (fault?.code === 'conflict' ? fault.message : undefined)}
            isMono
          />
          <div class="field">
            <span class="label" id="starters">
              {w.startFrom}
            </span>
            <div class="kinds" role="group" aria-labelledby="starters">
              {starters.map((one) => {
                const { name, text } = w.starters[one.id]
                return (
                  <button key={one.id} type="button" aria-pressed={one === starter} onClick={() => choose(one)}>
                    <b>{name}</b>
                    <span>{text}</span>
                  </button>
                )
              })}
            </div>
          </div>
        </>
      )}
    </FormDialog>
  )

  function choose(one: Starter): void {
    setStarter(one)
    const previous = starter && w.starters[starter.id].name
    if (one.id !== 'blank' && (name === '' || name === previous)) setName(w.starters[one.id].name)
    if (one.id !== 'blank' && (slug === '' || slug === starter?.slug)) setSlug(one.slug)
  }
}
