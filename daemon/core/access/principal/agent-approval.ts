/** Decides whether a person must approve messages of agents, and which actions agents therefore cannot take. Pure. */
import { Refusal } from '../../refusals.ts'
import type { Principal } from './principal.ts'

/** The fields of a project that the rule reads. */
export interface ApprovingProject {
  readonly id: string
  /** The project whose partition this project is. */
  readonly parentId?: string | undefined
  readonly agentSendApproval?: 'never' | 'always' | undefined
}

interface Within {
  readonly projects: ReadonlyMap<string, ApprovingProject>
}

type Asking = Pick<Principal, 'agent'>

/**
 * Returns whether messages of agents to real recipients wait for approval. Either the project or the parent of a partition can require it.
 */
export function approvesAgents({ projects }: Within, projectId: string): boolean {
  const project = projects.get(projectId)
  const parent = projects.get(project?.parentId ?? '')
  return [project, parent].some((one) => one?.agentSendApproval === 'always')
}

export const requiresApproval = (within: Within, projectId: string, { agent }: Asking): boolean =>
  agent !== undefined && approvesAgents(within, projectId)

/**
 * Refuses a replay by an agent: a person approves a message that they have read, and a replay has many messages. Throws
 * `approval_required`.
 */
export function refuseUnseen(within: Within, principal: Principal): void {
  const reached = [...within.projects.values()].filter(({ id, parentId }) =>
    principal.bound ? id === principal.projectId || parentId === principal.projectId : true,
  )
  if (!reached.some(({ id }) => requiresApproval(within, id, principal))) return
  throw approvalRequired(
    'In this project a person approves each message of an agent, so agents cannot start replays. Ask a member to start it.',
  )
}

/**
 * Refuses an agent that creates or changes credentials, because mail with a credential needs no approval. Throws `approval_required` if the
 * agent's own project or any of `projectIds` requires approval.
 */
export function refuseSenders(within: Within, principal: Principal, projectIds: readonly string[]): void {
  if (![principal.projectId, ...projectIds].some((id) => requiresApproval(within, id, principal))) return
  throw approvalRequired(
    'In this project a person approves messages of agents, so agents cannot create or change credentials and keys that send. Ask a member to do it in the dashboard.',
  )
}

/** Refuses an agent that changes the approval setting, which limits the agent itself. Throws `approval_required`. */
export function refuseOwnApproval({ agent }: Asking, { agentSendApproval }: Pick<ApprovingProject, 'agentSendApproval'>): void {
  if (!agent || agentSendApproval === undefined) return
  throw approvalRequired('Agents cannot change agent_send_approval. Ask a member to change it in the dashboard, under Routing.')
}

const approvalRequired = (message: string): Refusal => new Refusal('approval_required', message, { nextAction: 'ask_member' })
