/** Adds an approval decision to a write, with the counters that it changes. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import { dayOf, organizationSendCounter, sendCounter } from '../../tenancy/counters.ts'
import { traces, type Trace } from '../trace.ts'
import type { ApprovalDecision } from './trace-approval.ts'

/** Adds consequences of a decision to its write, depending on the purpose of the message. */
export type FollowDecision = (database: Database, change: Change, organizationId: string, decided: Trace) => Promise<void>

const givingBack: readonly (ApprovalDecision | undefined)[] = ['refused', 'expired']

/**
 * Adds the decision to the write. A refused or expired message gives back its counted send, on the day of its acceptance. A message
 * withdrawn by the agent does not, as with scheduled sends; otherwise an agent could request approvals without limit.
 */
export function stageDecision(change: Change, organizationId: string, stored: Stored<Trace>, next: Trace): void {
  change.replace(traces, organizationId, stored, next)
  if (!givingBack.includes(next.approval?.decision?.as)) return
  const day = dayOf(stored.record.createdAt)
  change.add(organizationSendCounter(organizationId, day), -1).add(sendCounter(organizationId, next.projectId, day), -1)
}
