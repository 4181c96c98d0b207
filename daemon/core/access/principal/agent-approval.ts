/** Whether a person approves what an agent sends, and what agents may therefore not do. Pure. */
import { Refusal } from '../../refusals.ts'
import type { Principal } from './principal.ts'

/** As much of a project as the rule looks at. */
export interface ApprovingProject {
  readonly id: string
  /** The project that it is a partition of. */
  readonly parentId?: string | undefined
  readonly agentSendApproval?: 'never' | 'always' | undefined
}

interface Within {
  readonly projects: ReadonlyMap<string, ApprovingProject>
}

type Asking = Pick<Principal, 'agent'>

/** What agents send to real recipients waits where the project says so, or the one whose partition it is. */
export function approvesAgents({ projects }: Within, projectId: string): boolean {
  const project = projects.get(projectId)
  const parent = projects.get(project?.parentId ?? '')
  return [project, parent].some((one) => one?.agentSendApproval === 'always')
}

export const requiresApproval = (within: Within, projectId: string, { agent }: Asking): boolean =>
  agent !== undefined && approvesAgents(within, projectId)

/** A person approves bytes that they have seen, and those of a replay are many messages. Throws `approval_required`. */
export function refuseUnseen(within: Within, principal: Principal): void {
  const reached = [...within.projects.values()].filter(({ id, parentId }) =>
    principal.bound ? id === principal.projectId || parentId === principal.projectId : true,
  )
  if (!reached.some(({ id }) => requiresApproval(within, id, principal))) return
  throw approvalRequired(
    'In this project a person approves each message of an agent, so that agents start no replays; ask a member to start it.',
  )
}

/**
 * Whoever has a login or a key sends without asking. Throws `approval_required` for an agent whose own project, or one of these, requires
 * approval.
 */
export function refuseSenders(within: Within, principal: Principal, projectIds: readonly string[]): void {
  if (![principal.projectId, ...projectIds].some((id) => requiresApproval(within, id, principal))) return
  throw approvalRequired(
    'In this project a person approves what agents send, so that agents neither create nor change logins and keys that send; ask a member to do it in the dashboard.',
  )
}

/** Who is held to the approval does not set it. Throws `approval_required`. */
export function refuseOwnApproval({ agent }: Asking, { agentSendApproval }: Pick<ApprovingProject, 'agentSendApproval'>): void {
  if (!agent || agentSendApproval === undefined) return
  throw approvalRequired(
    'Whether a person approves what agents send is set by people; ask a member to set it in the dashboard, under Routing.',
  )
}

const approvalRequired = (message: string): Refusal => new Refusal('approval_required', message, { nextAction: 'ask_member' })
