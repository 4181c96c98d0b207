/** Form that creates a website, with a first deploy if an archive is given. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { bytes } from '../parts/time.ts'
import { colon } from '../texts/language.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './websites-texts.ts'
import { waitingArchive } from './waiting-archive.ts'

/** Returns a name derived from the file name: `My Site (2).zip` becomes `my-site-2`. */
const slugOf = (file: File | undefined): string =>
  (file?.name ?? '')
    .replace(/\.zip$/i, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 40)

export function NewSite({ file, onClose }: { readonly file: File | undefined; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const [slug, setSlug] = useState(slugOf(file))
  const create = async (): Promise<void> => {
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { id } = await call('POST /v1/sites', { body: { slug: slug.trim(), ...project } })
    if (file) waitingArchive.value = { siteId: id, file }
    go(link(`/websites/${id}`), { replaces: true })
  }
  return (
    <FormDialog title={w.newSite} submit={allTexts().create} onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} hint={w.nameHint} value={slug} onChange={setSlug} fault={fault?.fields.get('slug')} isMono />
          {file && (
            <p class="soft">
              {w.archive + colon()} {file.name}, {bytes(file.size)}
            </p>
          )}
        </>
      )}
    </FormDialog>
  )
}
