/** Due notices, as rows ordered by time. The write that ends a recipient adds the row, so that no crash loses a notice. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { Trace } from '../trace.ts'
import { traceInAnyForm } from '../earlier-traces.ts'
import { isUnknownToAuthor, openNotice } from './trace-notice.ts'

/** Also the name of the work, see `Database.onWork`. */
export const noticeRows = 'notice.due'

/** Recipients that end within this time share a notice. */
export const gatherMs = 60_000
/** Maximum notices per trace. */
export const maxNotices = 3

export interface DueNotice {
  readonly dueAt: number
  readonly organizationId: string
  readonly traceId: string
}

const prefix = globalKey('notice.due')
const dueKey = ({ dueAt, organizationId, traceId }: DueNotice): readonly Element[] => [...prefix, dueAt, organizationId, traceId]

export const addDueNotice = (change: Change, due: DueNotice): Change => change.set(dueKey(due)).schedule(noticeRows, due.traceId)

export const removeDueNotice = (change: Change, due: DueNotice): Change => change.delete(dueKey(due))

/** Deletes the due notice of a deleted trace. */
export function dropDueNotice(change: Change, organizationId: string, trace: Trace): void {
  const open = openNotice(trace)
  if (open) removeDueNotice(change, { dueAt: open.dueAt, organizationId, traceId: trace.id })
}

/**
 * Adds a notice to a trace after a write that ended recipients, and its row to the write. Returns the same trace if no recipient ended, the
 * trace has no `noticeTo`, or the maximum is reached. Without `before`, the trace is new.
 */
export function withNotice(change: Change, organizationId: string, before: Trace | undefined, after: Trace, nowMs: number): Trace {
  const { id: traceId, noticeTo, notices = [] } = after
  if (noticeTo === undefined) return after
  const earlier = new Map(before?.recipients.map(({ address, status }) => [address, status]))
  const ended = new Set(after.recipients.filter((one) => isUnknownToAuthor(one) && earlier.get(one.address) !== one.status))
  const open = openNotice(after)
  if (ended.size === 0 || (!open && notices.length >= maxNotices)) return after
  const dueAt = nowMs + gatherMs
  if (!open) addDueNotice(change, { dueAt, organizationId, traceId })
  const all = open ? notices : [...notices, { dueAt }]
  const recipients = after.recipients.map((one) => (ended.has(one) ? { ...one, notice: all.length } : one))
  return { ...after, notices: all, recipients }
}

/** Returns the first due notices. */
export async function dueNotices({ kv }: Pick<Database, 'kv'>, nowMs: number, limit: number): Promise<readonly DueNotice[]> {
  const found: DueNotice[] = []
  for await (const { key } of kv.range({ start: pack(prefix), end: pack([...prefix, nowMs + 1]), limit })) found.push(dueOf(unpack(key)))
  return found
}

/** Returns the next due time; Infinity without notices. */
export async function nextNoticeMs({ kv }: Pick<Database, 'kv'>): Promise<number> {
  for await (const { key } of kv.range({ ...within(prefix), limit: 1 })) return dueOf(unpack(key)).dueAt
  return Infinity
}

function dueOf(key: readonly Element[]): DueNotice {
  const [dueAt, organizationId, traceId] = key.slice(prefix.length)
  return { dueAt: Number(dueAt), organizationId: String(organizationId), traceId: String(traceId) }
}

/** Returns the faults of a row, for `verify`. */
export async function checkDueNotice(database: Database, key: readonly Element[]): Promise<string[]> {
  const { dueAt, organizationId, traceId } = dueOf(key)
  const trace = (await traceInAnyForm(database, { organizationId }, traceId))?.record
  return trace && openNotice(trace)?.dueAt === dueAt ? [] : [`the trace ${traceId} has no notice that is due then`]
}

/** Returns the faults of a trace's notices, for `verify`. */
export async function checkTraceNotice({ kv }: Database, organizationId: string, trace: Trace): Promise<string[]> {
  const open = openNotice(trace)
  if (!open) return []
  const row = await kv.get(pack(dueKey({ dueAt: open.dueAt, organizationId, traceId: trace.id })))
  return row ? [] : ['its notice to the author is due, and nothing finds it then']
}
