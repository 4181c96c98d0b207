/** Menu of a template: rename, change the slug, delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { EndDialog, FormDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Template } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { contentOf, draftOf, keepDraft } from '../template-editor/draft.ts'
import { texts } from './template-texts.ts'

interface MenuProps {
  readonly template: Template
  readonly onSaved: (template: Template) => void
  readonly onTest: () => void
}

export function TemplateMenu({ template, onSaved, onTest }: MenuProps): JSX.Element {
  const w = texts()
  const [open, setOpen] = useState<'rename' | 'remove'>()
  const remove = async (): Promise<void> => {
    await call('DELETE /v1/templates/{id}', { path: { id: template.id } })
    keepDraft(template.id, undefined)
    toast(w.removed({ name: plain(template.name) }))
    go(link('/templates'), { replaces: true })
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(onTest)}>{w.test}</button>
          <button onClick={then(() => setOpen('rename'))}>{w.rename}</button>
          <button class="bad" onClick={then(() => setOpen('remove'))}>
            {w.remove}
          </button>
        </>
      )}
    >
      {open === 'rename' && <Rename template={template} onClose={() => setOpen(undefined)} onSaved={onSaved} />}
      {open === 'remove' && (
        <EndDialog
          title={w.remove}
          effects={[w.versionsGo({ n: template.current_version }), w.sendsRefused]}
          name={template.slug}
          submit={w.remove}
          onClose={() => setOpen(undefined)}
          onSubmit={remove}
        />
      )}
    </MoreMenu>
  )
}

function Rename({ template, onClose, onSaved }: Omit<MenuProps, 'onTest'> & { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [name, setName] = useState(template.name)
  const [slug, setSlug] = useState(template.slug)
  const put = async (names: { readonly name: string; readonly slug: string }): Promise<void> => {
    onSaved(await call('PUT /v1/templates/{id}', { path: { id: template.id }, body: { ...names, ...contentOf(draftOf(template)) } }))
  }
  const submit = async (): Promise<void> => {
    await put({ name, slug })
    onClose()
    toast(w.renamed, () => void put({ name: template.name, slug: template.slug }))
  }
  return (
    <FormDialog title={w.renameTitle} submit={allTexts().done} onClose={onClose} onSubmit={submit}>
      {(fault) => (
        <>
          <TextField label={w.name} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <TextField
            label={w.slug}
            value={slug}
            onChange={setSlug}
            hint={w.renameHint}
            fault={fault?.fields.get('slug') ?? (fault?.code === 'conflict' ? fault.message : undefined)}
            isMono
          />
        </>
      )}
    </FormDialog>
  )
}
