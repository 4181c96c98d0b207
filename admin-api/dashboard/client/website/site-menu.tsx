/** Menu of a website: name, project, pause, delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { projectRows, projects } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { EditDialog, EndDialog } from '../parts/forms.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { texts } from '../websites/websites-texts.ts'
import type { Site } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'

interface MenuProps {
  readonly site: Site
  readonly onChange: () => void
}

export function SiteMenu({ site, onChange }: MenuProps): JSX.Element {
  const w = texts()
  const [open, setOpen] = useState<'edit' | 'remove'>()
  const isPaused = site.status === 'paused'
  const pause = async (paused: boolean): Promise<void> => {
    try {
      await call('PATCH /v1/sites/{id}', { path: { id: site.id }, body: { paused } })
      toast(paused ? w.pausedNow : w.resumedNow, () => void pause(!paused))
      onChange()
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(() => setOpen('edit'))}>{w.edit}</button>
          <button onClick={then(() => void pause(!isPaused))}>{isPaused ? w.resume : w.pause}</button>
          <button class="bad" onClick={then(() => setOpen('remove'))}>
            {w.remove}
          </button>
        </>
      )}
    >
      {open === 'edit' && <EditSite site={site} onClose={() => setOpen(undefined)} onDone={onChange} />}
      {open === 'remove' && <EndSite site={site} onClose={() => setOpen(undefined)} />}
    </MoreMenu>
  )
}

interface EditProps {
  readonly site: Site
  readonly onClose: () => void
  readonly onDone: () => void
}

function EditSite({ site, onClose, onDone }: EditProps): JSX.Element {
  const w = texts()
  return (
    <EditDialog
      title={w.edit}
      begin={{ slug: site.slug, project: site.project_id }}
      onClose={onClose}
      onDone={onDone}
      onSave={async ({ slug, project }) => {
        const changes = {
          ...(slug.trim() !== site.slug && { slug: slug.trim() }),
          ...(project !== site.project_id && { project_id: project }),
        }
        await call('PATCH /v1/sites/{id}', { path: { id: site.id }, body: changes })
        return w.saved
      }}
    >
      {({ at }) => (
        <>
          <TextField label={w.name} hint={w.editHint} {...at('slug')} isMono />
          {projects.value.length > 1 && (
            <ChooseField
              label={w.project}
              {...at('project', 'project_id')}
              of={projectRows.value}
              options={projects.value.map(({ id, name }) => [id, plain(name)])}
            />
          )}
        </>
      )}
    </EditDialog>
  )
}

function EndSite({ site, onClose }: { readonly site: Site; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  return (
    <EndDialog
      title={w.remove}
      effects={[w.removeDeploys, w.removeName, ...(site.domains.length === 0 ? [] : [w.removeDomains({ n: site.domains.length })])]}
      name={site.slug}
      submit={w.remove}
      onClose={onClose}
      onSubmit={async () => {
        await call('DELETE /v1/sites/{id}', { path: { id: site.id } })
        toast(allTexts().deleted({ name: site.slug }))
        go(link('/websites'))
      }}
    />
  )
}
