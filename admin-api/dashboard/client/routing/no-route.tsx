/** Policy of a project for mail that matches no rule. */
import type { JSX } from 'preact'
import { call } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, rememberProject } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts } from './routing-texts.ts'

type Policy = Project['no_route_policy']

export function NoRoute(): JSX.Element | null {
  const w = texts()
  const project = homeProject()
  if (!project) return null
  const choices: readonly (readonly [value: Policy, label: string, text: string])[] = [
    ['capture', w.policyCapture, w.policyCaptureText],
    ['reject', w.policyReject, w.policyRejectText],
    ['relay_default', w.policyRelay, w.policyRelayText],
  ]
  const set = async (policy: Policy): Promise<void> => {
    const before = project.no_route_policy
    try {
      await keep(project, policy)
      toast(w.policySaved, () => void keep(project, before))
    } catch (error) {
      showFault(error)
    }
  }
  return (
    <div class="block choices" role="radiogroup" aria-labelledby="no-route">
      <div>
        <h2 id="no-route">{w.noRoute}</h2>
        <p class="soft">{w.noRouteOf({ name: plain(project.name) })}</p>
      </div>
      {choices.map(([value, label, text]) => (
        <label class="check" key={value}>
          <input
            type="radio"
            name="no-route"
            disabled={!mayChange.value}
            checked={project.no_route_policy === value}
            onChange={() => void set(value)}
          />
          <span>
            {label}
            <br />
            <span class="faint">{text}</span>
          </span>
        </label>
      ))}
    </div>
  )
}

const keep = async ({ id }: Project, policy: Policy): Promise<void> =>
  rememberProject(await call('PATCH /v1/projects/{id}', { path: { id }, body: { no_route_policy: policy } }))
