/** Notices that are due, as rows by their time: a row is in the write that ended a recipient, so that no crash loses its notice. */
import type { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import type { Trace } from '../trace.ts'
import { traceInAnyForm } from '../earlier-traces.ts'
import { isUnknownToAuthor, openNotice } from './trace-notice.ts'

/** Also its name as work, see `Database.onWork`. */
export const noticeRows = 'notice.due'

/** Recipients that end within this time share a notice. */
export const gatherMs = 60_000
/** Notices of one trace. */
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

/** Adds to the removal of a trace that its notice is not due any more. */
export function dropDueNotice(change: Change, organizationId: string, trace: Trace): void {
  const open = openNotice(trace)
  if (open) removeDueNotice(change, { dueAt: open.dueAt, organizationId, traceId: trace.id })
}

/**
 * The trace after a write that ended recipients, with the notice that reports them; its row joins the write. The same trace when no
 * recipient ended, no one gets notices about it, or it had all its notices. Without `before`, the trace is new.
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

/** The first that are due. */
export async function dueNotices({ kv }: Pick<Database, 'kv'>, nowMs: number, limit: number): Promise<readonly DueNotice[]> {
  const found: DueNotice[] = []
  for await (const { key } of kv.range({ start: pack(prefix), end: pack([...prefix, nowMs + 1]), limit })) found.push(dueOf(unpack(key)))
  return found
}

/** When the next one is due; infinite when none is. */
export async function nextNoticeMs({ kv }: Pick<Database, 'kv'>): Promise<number> {
  for await (const { key } of kv.range({ ...within(prefix), limit: 1 })) return dueOf(unpack(key)).dueAt
  return Infinity
}

function dueOf(key: readonly Element[]): DueNotice {
  const [dueAt, organizationId, traceId] = key.slice(prefix.length)
  return { dueAt: Number(dueAt), organizationId: String(organizationId), traceId: String(traceId) }
}

/** What is wrong with a row; for `verify`. */
export async function checkDueNotice(database: Database, key: readonly Element[]): Promise<string[]> {
  const { dueAt, organizationId, traceId } = dueOf(key)
  const trace = (await traceInAnyForm(database, { organizationId }, traceId))?.record
  return trace && openNotice(trace)?.dueAt === dueAt ? [] : [`the trace ${traceId} has no notice that is due then`]
}

/** What is wrong with the notices of a trace; for `verify`. */
export async function checkTraceNotice({ kv }: Database, organizationId: string, trace: Trace): Promise<string[]> {
  const open = openNotice(trace)
  if (!open) return []
  const row = await kv.get(pack(dueKey({ dueAt: open.dueAt, organizationId, traceId: trace.id })))
  return row ? [] : ['its notice to the author is due, and nothing finds it then']
}
