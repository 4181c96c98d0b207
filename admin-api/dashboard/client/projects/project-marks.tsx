/** Marks for the state of a project and its policy for unrouted mail. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import type { Project } from '../wire/api.d.ts'
import { texts } from './projects-texts.ts'

interface MarkProps {
  readonly project: Project
}

export const markOf = ({ status }: Project): string => (status === 'claimed' ? 'ok' : 'pending')

export const ProjectStatus = ({ project }: MarkProps): JSX.Element => (
  <span class="status">
    <Mark name={markOf(project)} />
    {project.status}
  </span>
)

const policyMarks = { capture: 'captured', reject: 'refused', relay_default: 'relayed' } as const

export const Policy = ({ project: { no_route_policy: policy } }: MarkProps): JSX.Element => (
  <span class="status" title={policy}>
    <Mark name={policyMarks[policy]} />
    {texts().policies[policy]}
  </span>
)
