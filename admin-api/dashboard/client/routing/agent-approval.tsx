/** Setting that requires approval by a member before agents send to real recipients. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, projects } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts } from './routing-texts.ts'

export function AgentApproval(): JSX.Element | null {
  const w = texts()
  const project = homeProject()
  if (!project) return null
  const set = async (isAlways: boolean): Promise<void> => {
    try {
      await keep(project, isAlways)
      toast(w.approvalSaved, () => void keep(project, !isAlways))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <div class="block choices">
      <div>
        <h2>{w.agents}</h2>
        <p class="soft">{w.noRouteOf({ name: plain(project.name) })}</p>
      </div>
      <label class="check">
        <input
          type="checkbox"
          disabled={!mayChange.value}
          checked={project.agent_send_approval === 'always'}
          onChange={(event) => void set(event.currentTarget.checked)}
        />
        <span>
          {w.approval}
          <br />
          <span class="faint">{w.approvalText}</span>
        </span>
      </label>
    </div>
  )
}

/** Saves the setting and updates the shared list of projects. */
async function keep({ id }: Project, isAlways: boolean): Promise<void> {
  const changed = await call('PATCH /v1/projects/{id}', { path: { id }, body: { agent_send_approval: isAlways ? 'always' : 'never' } })
  projects.value = projects.value.map((one) => (one.id === id ? changed : one))
}
