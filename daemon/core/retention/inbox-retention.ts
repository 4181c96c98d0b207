/** Deletes captured messages after the retention of all their inboxes, like traces beyond the plan's retention. */
import type { Database } from '#store/database.ts'
import { captureOf, inboxes, isLetGo, retainedFrom } from '../capture/capture.ts'
import { catchAll } from '../capture/inbox-pattern.ts'
import { patternsOf } from '../trace/arrivals.ts'
import { captured, traces } from '../trace/trace.ts'
import { removeTrace } from './remove-trace.ts'

const batch = 100

/** Returns the number of deleted messages. An inbox without its own retention keeps messages for the plan's retention. */
export async function sweepInboxes(
  { database, stopping }: { readonly database: Database; readonly stopping: () => boolean },
  organizationId: string,
  nowMs: number,
): Promise<number> {
  const all = (await database.all(inboxes, { organizationId })).map(({ record }) => record)
  let removed = 0
  for (const [projectId, its] of Map.groupBy(all, (inbox) => inbox.projectId)) {
    const latest = Math.max(...its.map((inbox) => retainedFrom(inbox, nowMs)))
    const keepsAll = its.some(({ addressPattern, retentionDays }) => addressPattern === catchAll && retentionDays === undefined)
    let cursor: string | undefined
    for (let goesOn = latest > 0 && !keepsAll; goesOn && !stopping();) {
      const wanted = { values: [projectId, captured], limit: batch, ascending: true, cursor, forWork: true } as const
      const { rows, nextCursor } = await database.list(traces, { organizationId }, wanted)
      const old = rows.flatMap(({ record }) => captureOf(record) ?? []).filter(({ capturedAt }) => capturedAt < latest)
      const due = old.filter((capture) => isLetGo(its, patternsOf(capture), capture.capturedAt, nowMs))
      const gone = await Promise.all(due.map(({ traceId }) => removeTrace(database, organizationId, traceId, nowMs)))
      removed += gone.filter(Boolean).length
      cursor = nextCursor
      goesOn = nextCursor !== undefined && old.length === rows.length
    }
  }
  return removed
}
