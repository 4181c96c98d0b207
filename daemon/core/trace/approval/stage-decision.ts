/** The decision about a message that waited, as rows of the write that makes it. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { dayOf, organizationSendCounter, sendCounter } from '../../tenancy/counters.ts'
import { traces, type Trace } from '../trace.ts'
import type { ApprovalDecision } from './trace-approval.ts'

/** Adds to the write of a decision what else follows from it, for whatever the message was sent for. */
export type FollowDecision = (database: Database, change: Change, organizationId: string, decided: Trace) => Promise<void>

const givingBack: readonly (ApprovalDecision | undefined)[] = ['refused', 'expired']

/**
 * One that a person refused, or that was not approved in time, gives back the send that it was counted as, to the day on which it was.
 * What the agent takes back itself does not, as with scheduled sends: else it could ask without end.
 */
export function stageDecision(change: Change, organizationId: string, stored: Stored<Trace>, next: Trace): void {
  change.replace(traces, organizationId, stored, next)
  if (!givingBack.includes(next.approval?.decision?.as)) return
  const day = dayOf(stored.record.createdAt)
  change.add(organizationSendCounter(organizationId, day), -1).add(sendCounter(organizationId, next.projectId, day), -1)
}
