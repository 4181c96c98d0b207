/** Counts an attempt for its project and destination. */
import type { Change } from '#store/change.ts'
import type { QueueEntry } from '#store/queue.ts'
import { count, countAttempt, projectNames, type CountedAttempt } from '../../insights/count.ts'
import type { Trace } from '../../trace/trace.ts'
import type { AttemptReport } from '../transport.ts'
import { effectOf } from './error-class.ts'

/** Counts an ended attempt. An attempt that we aborted counts only for recipients whose delivery it ended. */
export function countEnded(change: Change, entry: QueueEntry, before: Trace, after: Trace, report: AttemptReport, now: number): void {
  const place = { organizationId: entry.organizationId, projectId: before.projectId }
  const effect = effectOf(report)
  const taken: string[] = []
  const failed: string[] = []
  const deferred: string[] = []
  for (const [i, { status, address }] of after.recipients.entries()) {
    if (before.recipients[i]?.status !== 'queued') continue
    if (status === 'sent') taken.push(address)
    else if (status === 'failed') failed.push(address)
    else if (status === 'queued' && effect !== 'ours') deferred.push(address)
  }
  if (effect !== 'ours' || taken.length + failed.length > 0) {
    const isError = effect === 'busy' || effect === 'fault'
    const timings = timingsOf(before, taken.length > 0, report.milliseconds['total'], now)
    const isRetry = !isFirst(before)
    countAttempt(change, place, { destinationId: entry.destinationId, taken, failed, deferred, isRetry, isError, timings }, now)
  }
  if (after.status === 'failed') count(change, place, [projectNames.failed], now)
}

function timingsOf(before: Trace, isTaken: boolean, total: number | undefined, now: number): CountedAttempt['timings'] {
  const { replays, sendAt, createdAt } = before
  const last = replays?.at(-1)
  const since = last?.at ?? sendAt ?? createdAt
  return {
    ...(isFirst(before) && { first_attempt: Math.max(0, now - since - (total ?? 0)) }),
    ...(isTaken && total !== undefined && { attempt: total }),
    ...(isTaken && { delivery: Math.max(0, now - since) }),
  }
}

/** Whether no attempt was made since the message was accepted or replayed. */
const isFirst = ({ attempts, replays }: Trace): boolean => attempts === (replays?.at(-1)?.attempts ?? 0)
