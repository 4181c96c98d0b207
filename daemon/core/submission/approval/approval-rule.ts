/** Whether a person approves a send before it leaves. Pure. */
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Project } from '../../tenancy/organization.ts'

type Projects = Pick<Policy, 'projects'>

/** What agents send to real recipients waits where the project says so, or the one whose partition it is. */
export function requiresApproval({ projects }: Projects, project: Project, { agent }: Pick<Principal, 'agent'>): boolean {
  if (!agent) return false
  const parent = project.parentId === undefined ? undefined : projects.get(project.parentId)
  return [project, parent].some((one) => one?.agentSendApproval === 'always')
}

/** A person approves bytes that they have seen, and those of a replay are many messages. Throws `approval_required`. */
export function refuseUnseen(policy: Projects, principal: Principal): void {
  const within = [...policy.projects.values()].filter(({ id, parentId }) =>
    principal.bound ? id === principal.projectId || parentId === principal.projectId : true,
  )
  if (!within.some((project) => requiresApproval(policy, project, principal))) return
  const message = 'In this project a person approves each message of an agent, so that agents start no replays; ask a member to start it.'
  throw new Refusal('approval_required', message, { nextAction: 'ask_member' })
}
