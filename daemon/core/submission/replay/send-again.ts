/** Shared by replay and retry: whether a failed message may be sent again, and the rows that queue it. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { enqueue, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { isOpenTo } from '../../access/principal/project-choice.ts'
import { suppressionsAgainst } from '../../feedback/suppression/suppressed-recipients.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { keepReturnPaths } from '../../trace/return-paths.ts'
import { advance } from '../../trace/states.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { passGates, type Limits } from '../accept/accept-gates.ts'

/** Why a message cannot be sent again: a sentence with the next step, and the next step as a code. */
export interface Obstacle {
  readonly message: string
  readonly nextAction: string
}

/** Returns why the message cannot be sent to the destination now, or undefined. Pure. */
export function obstacleOf({ destinations, projects }: Policy, trace: Trace, destinationId: string): Obstacle | undefined {
  const destination = destinations.get(destinationId)
  if (!destination) {
    const message =
      'Its destination was deleted; send a new message, or replay a failed message to another destination, if the plan includes bulk replay.'
    return { message, nextAction: 'send_again' }
  }
  const named = `The destination ${destination.name}`
  if (destination.mode !== 'live') return { message: `${named} is in sandbox mode; promote it to live.`, nextAction: 'fix_destination' }
  if (!isOpenTo(destination, trace.projectId)) return { message: `${named} belongs to another project.`, nextAction: 'fix_destination' }
  if (projects.get(trace.projectId)?.status === 'anonymous')
    return { message: 'Its project is not claimed and cannot relay mail; claim it.', nextAction: 'claim_project' }
  return undefined
}

/** Returns the failed recipients that are suppressed now. They keep their status and failure reason. */
export async function suppressedSince(
  database: Database,
  organizationId: string,
  trace: Trace,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const recipients = trace.recipients.map(({ address, status }) => ({ address, status: advance(status, 'retried') }))
  return new Set((await suppressionsAgainst(database, organizationId, { ...trace, recipients }, nowMs)).keys())
}

/** Returns true if all failed recipients are suppressed now. */
export const isAllSuppressed = ({ recipients }: Trace, suppressed: ReadonlySet<string>): boolean =>
  recipients.every(({ address, status }) => status !== 'failed' || suppressed.has(address))

export const allSuppressed: Obstacle = {
  message: 'Every remaining recipient is suppressed or has unsubscribed; remove the suppression, then retry.',
  nextAction: 'remove_suppression',
}

export interface SendAgain {
  readonly policy: Policy
  readonly organizationId: string
  /** Id of the credential that requested the retry or the replay. */
  readonly by: string
  readonly now: number
}

/** Stages the write that queues the trace again, and counts it as a send. The limits explain a write that fails with `limit`. */
export function stageAgain(
  change: Change,
  { policy, organizationId, by, now }: SendAgain,
  stored: Stored<Trace>,
  next: Trace,
): { readonly limits: Limits; readonly entry: QueueEntry } {
  const limits = countSend(policy, organizationId, by, next, now, change)
  const entry = waitingEntry(organizationId, { ...next, nextAttemptAt: next.nextAttemptAt ?? now })
  enqueue(change.rewrite(traces, organizationId, stored, next), entry)
  keepReturnPaths(change, organizationId, next, now)
  return { limits, entry }
}

function countSend(
  { projects, organization }: Policy,
  organizationId: string,
  by: string,
  trace: Trace,
  nowMs: number,
  change: Change,
): Limits {
  const project = projects.get(trace.projectId)
  if (!project) throw new Error(`trace ${trace.id} belongs to no project`)
  const submission = {
    door: 'replay',
    principal: { organizationId, projectId: trace.projectId, bound: false, scopes: [], credentialId: by },
    rcptTo: trace.recipients.map(({ address }) => address),
    draft: { size: trace.content.size },
    submittedBy: by,
  } as const
  const decision = { outcome: 'relayed', destinationId: trace.destinationId, reason: '' } as const
  const bounds = { maxRecipients: Infinity, maxMessageBytes: Infinity, previousMinute: 0 }
  return passGates({ submission, project, organization, decision, nowMs, ...bounds }, change)
}
