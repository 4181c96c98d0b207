/** What a replay and a retry share: whether a failed message may go again, and the rows of the write that queues it. */
import type { Change } from '#store/change.ts'
import { enqueue, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { isOpenTo } from '../access/project-choice.ts'
import type { Policy } from '../routing/policy.ts'
import { keepReturnPaths } from '../trace/return-paths.ts'
import { traces, type Trace } from '../trace/trace.ts'
import { waitingEntry } from '../trace/waiting-entry.ts'
import { passGates, type Limits } from './gates.ts'

/** Why the message cannot go to the destination now, in a sentence that says what to do; undefined when it can. Pure. */
export function whyNotAgain({ destinations, projects }: Policy, trace: Trace, destinationId: string): string | undefined {
  const destination = destinations.get(destinationId)
  if (!destination) return 'Its destination was deleted; replay with a target_destination_id.'
  if (destination.mode !== 'live') return `The destination ${destination.name} is in sandbox mode; promote it to live.`
  if (!isOpenTo(destination, trace.projectId)) return `The destination ${destination.name} is of another project.`
  if (projects.get(trace.projectId)?.status === 'anonymous') return 'Its project is not claimed, and sends nothing.'
  return undefined
}

export interface SendAgain {
  readonly policy: Policy
  readonly organizationId: string
  /** Id of the grant that asked for it. */
  readonly by: string
  readonly now: number
}

/** Adds to the write that the trace stands in the queue again, and counts it as a send. The limits explain a write that failed with reason `limit`. */
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
    scope: { organizationId, projectId: trace.projectId, bound: false, rights: [], grantId: by },
    rcptTo: trace.recipients.map(({ address }) => address),
    draft: { size: trace.content.size },
    submittedBy: by,
  } as const
  const decision = { outcome: 'relayed', destinationId: trace.destinationId, reason: '' } as const
  const bounds = { recipientsMax: Infinity, messageBytesMax: Infinity, previousMinute: 0 }
  return passGates({ submission, project, organization, decision, nowMs, ...bounds }, change)
}
