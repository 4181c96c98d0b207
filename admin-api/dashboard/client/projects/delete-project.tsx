/** Dialog that deletes a project with all of its content. It asks for the name. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, projectId } from '../app/location.ts'
import { forgetProject } from '../app/projects.ts'
import { EndDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts } from './projects-texts.ts'

export function DeleteProject({ project, onClose }: { readonly project: Project; readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const { id, name, sub_project_ids: partitions } = project
  const [discards, setDiscards] = useState(false)
  const remove = async (): Promise<void> => {
    await call('DELETE /v1/projects/{id}', { path: { id }, ...(discards && { query: { discard_queued: true } }) })
    forgetProject(id)
    toast(w.deleted({ name: plain(name) }))
    const isChosen = projectId.value === id || partitions.includes(projectId.value ?? '')
    go(link('/settings/projects', isChosen ? { project: '' } : {}), { replaces: true })
  }
  return (
    <EndDialog
      title={w.deleteProject}
      effects={[w.deleteEffect, ...(partitions.length > 0 ? [w.deletePartitions({ count: partitions.length })] : []), w.deleteShared]}
      name={name}
      submit={w.deleteProject}
      onClose={onClose}
      onSubmit={remove}
    >
      <label class="check">
        <input type="checkbox" checked={discards} onChange={(event) => setDiscards(event.currentTarget.checked)} />
        {w.discardQueued}
      </label>
    </EndDialog>
  )
}
