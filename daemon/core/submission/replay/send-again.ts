/** What a replay and a retry share: whether a failed message may go again, and the rows of the write that queues it. */
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

/** What keeps a message from going again: a sentence that says what to do, and the same for programs. */
export interface Obstacle {
  readonly message: string
  readonly nextAction: string
}

/** Why the message cannot go to the destination now; undefined when it can. Pure. */
export function obstacleOf({ destinations, projects }: Policy, trace: Trace, destinationId: string): Obstacle | undefined {
  const destination = destinations.get(destinationId)
  if (!destination) {
    const message =
      'Its destination was deleted; send a new message, or replay one that failed to another one, if the plan includes bulk replay.'
    return { message, nextAction: 'send_again' }
  }
  const named = `The destination ${destination.name}`
  if (destination.mode !== 'live') return { message: `${named} is in sandbox mode; promote it to live.`, nextAction: 'fix_destination' }
  if (!isOpenTo(destination, trace.projectId)) return { message: `${named} belongs to another project.`, nextAction: 'fix_destination' }
  if (projects.get(trace.projectId)?.status === 'anonymous')
    return { message: 'Its project is not claimed and cannot relay mail; claim it.', nextAction: 'claim_project' }
  return undefined
}

/** Of those for whom the message failed, who is suppressed by now: they stay as they are, with what is known of why it failed. */
export async function suppressedSince(
  database: Database,
  organizationId: string,
  trace: Trace,
  nowMs: number,
): Promise<ReadonlySet<string>> {
  const recipients = trace.recipients.map(({ address, status }) => ({ address, status: advance(status, 'retried') }))
  return new Set((await suppressionsAgainst(database, organizationId, { ...trace, recipients }, nowMs)).keys())
}

/** Whether all recipients that were left are suppressed by now. */
export const isAllSuppressed = ({ recipients }: Trace, suppressed: ReadonlySet<string>): boolean =>
  recipients.every(({ address, status }) => status !== 'failed' || suppressed.has(address))

export const allSuppressed: Obstacle = {
  message: 'Every remaining recipient is suppressed or has unsubscribed; remove the suppression, then retry.',
  nextAction: 'remove_suppression',
}

export interface SendAgain {
  readonly policy: Policy
  readonly organizationId: string
  /** Id of the grant that asked for it. */
  readonly by: string
  readonly now: number
}

/** Adds to the write that the trace is queued again, and counts it as a send. The limits explain a write that fails with `limit`. */
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
