/** Number of messages in an inbox and time of the latest message, from a bounded scan of keys. */
import type { Database } from '#store/database.ts'
import { indexPrefix } from '#store/record-kind.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import { firstIdOf, timeOfId } from '../../trace/arrivals.ts'
import { traces } from '../../trace/trace.ts'
import { retainedFrom, type Inbox } from '../capture.ts'
import { walkOf } from './inbox-walk.ts'

export interface InboxFigures {
  readonly inboxId: string
  /** Up to `mostCounted`. */
  readonly messages: number
  /** True if more messages follow. */
  readonly hasMore: boolean
  readonly lastAt: number | null
  /** Trace ids of messages captured since the requested time, newest first, up to `mostNew`. */
  readonly newTraceIds: readonly string[]
}

export const mostCounted = 100
export const mostNew = 20

interface Moment {
  readonly nowMs: number
  /** Undefined: no message is new. */
  readonly sinceMs: number | undefined
}

export async function figuresOf(
  database: Database,
  organizationId: string,
  inbox: Inbox,
  { nowMs, sinceMs = Infinity }: Moment,
): Promise<InboxFigures> {
  const { index, values } = walkOf(inbox)
  const prefix = [...(index === undefined ? [organizationId, traces.name] : indexPrefix(traces.name, organizationId, index)), ...values]
  const oldest = retainedFrom(inbox, nowMs)
  const start = oldest === -Infinity ? {} : { start: pack([...prefix, firstIdOf(oldest)]) }
  const newTraceIds: string[] = []
  let messages = 0
  let lastAt: number | null = null
  for await (const { key } of database.kv.range({ ...within(prefix), ...start, reverse: true, limit: mostCounted + 1, whole: 'shown' })) {
    if (messages === mostCounted) return { inboxId: inbox.id, messages, hasMore: true, lastAt, newTraceIds }
    const [captureId, traceId] = unpack(key).slice(-2).map(String)
    const at = timeOfId(captureId ?? '')
    lastAt ??= at
    if (at >= sinceMs && newTraceIds.length < mostNew) newTraceIds.push(traceId ?? '')
    messages++
  }
  return { inboxId: inbox.id, messages, hasMore: false, lastAt, newTraceIds }
}
