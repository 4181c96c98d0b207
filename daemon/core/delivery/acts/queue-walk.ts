/** Walks the queue entries that match a filter, in queue order: by destination, project and due time. */
import type { Database } from '#store/database.ts'
import { heldDueMs, queuedAt, queuedParts, queueHead, type QueueEntry, type QueuePart } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import { foldAddress } from '../../addresses.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { QueueActName } from '../../trace/acts/act-record.ts'
import { holdOf } from '../../trace/acts/queue-acts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { noDestination, placeOfWaiting, waitingEntry } from '../../trace/waiting-entry.ts'
import type { QueueFilter } from './queue-act.ts'

/** A walk continues after this entry. */
export type QueueCursor = Pick<QueueEntry, 'destinationId' | 'projectId' | 'dueMs' | 'traceId'>

/** A waiting message and its entry. */
export interface Waiting {
  readonly entry: QueueEntry
  readonly stored: Stored<Trace>
}

export interface QueueWalk {
  readonly organizationId: string
  readonly policy: Policy
  readonly filter: QueueFilter
  /** Position after the last entry of an earlier walk. */
  readonly after?: QueueCursor | null | undefined
  /** True: only held messages. False: only messages that are not held. By default, both. */
  readonly isHeld?: boolean | undefined
  /** Only messages due after this time. */
  readonly laterThan?: number | undefined
  /** Includes messages with a pending hold; see `pendingHolds`. */
  readonly withPending?: boolean
}

/** Returns the range of messages that an act can apply to. Other messages are not counted. */
export const rangeOf = (act: QueueActName, now: number): Pick<QueueWalk, 'isHeld' | 'laterThan' | 'withPending'> => ({
  ...(act !== 'drop' && { isHeld: act === 'release' }),
  ...(act === 'release' && { withPending: true }),
  ...(act === 'expedite' && { laterThan: now }),
})

/** Entries per read, with and without their traces. */
const [stepRows, stepEntries] = [100, 500]

/** Scans the accessible queue parts in steps and yields the matching messages; a step may be empty. */
export async function* walkQueue(
  database: Database,
  walk: QueueWalk,
): AsyncGenerator<{ readonly last: QueueCursor; readonly found: readonly Waiting[]; readonly looked: number }> {
  for await (const { last, entries } of steps(database, walk, stepRows))
    yield { last, found: await fitting(database, walk, entries), looked: entries.length }
}

/** Yields matching entries. Reads traces only if the filter requires it. */
export async function* walkEntries(
  database: Database,
  walk: QueueWalk,
): AsyncGenerator<{ readonly last: QueueCursor; readonly found: readonly QueueEntry[]; readonly looked: number }> {
  const { traceIds } = walk.filter
  if (traceIds) {
    const found = (await waitingOf(database, walk, traceIds)).map(({ entry }) => entry)
    const last = found.at(-1)
    if (last) yield { last, found, looked: found.length }
    return
  }
  const pending = new Set<string>()
  if (walk.withPending)
    for await (const step of pendingHolds(database, walk)) {
      const found = step.map(({ entry }) => entry)
      for (const { traceId } of found) pending.add(traceId)
      const last = found.at(-1)
      if (last) yield { last, found, looked: found.length }
    }
  for await (const { last, entries } of steps(database, walk, stepEntries)) {
    // an attempt may have ended during the walk
    const rest = entries.filter((entry) => !pending.has(entry.traceId) && fitsEntry(walk.filter, entry))
    const unclear = rest.filter((entry) => needsTrace(walk.filter, entry))
    const found = unclear.length === 0 ? [...rest] : rest.filter((entry) => !needsTrace(walk.filter, entry))
    for (let at = 0; at < unclear.length; at += stepRows)
      found.push(...(await fitting(database, walk, unclear.slice(at, at + stepRows))).map(({ entry }) => entry))
    yield { last, found, looked: entries.length }
  }
}

/**
 * Yields matching messages with a pending hold, which are parked when their attempts end. A later walk over held entries finds messages
 * that were parked in the meantime.
 */
export async function* pendingHolds(database: Database, { organizationId, policy, filter }: QueueWalk): AsyncGenerator<readonly Waiting[]> {
  for (let cursor: string | undefined; ;) {
    const page = await database.list(
      traces,
      { organizationId },
      { index: 'pendingHold', limit: stepRows, ascending: true, cursor, forWork: true },
    )
    const waiting = page.rows.map((stored) => ({ entry: waitingEntry(organizationId, stored.record), stored }))
    yield waiting.filter(
      ({ entry, stored: { record } }) =>
        record.status === 'queued' &&
        policy.destinations.has(entry.destinationId) &&
        policy.projects.has(entry.projectId) &&
        fits(filter, entry, record),
    )
    cursor = page.nextCursor
    if (cursor === undefined) return
  }
}

async function* steps(
  database: Database,
  walk: QueueWalk,
  limit: number,
): AsyncGenerator<{ readonly last: QueueCursor; readonly entries: readonly QueueEntry[] }> {
  const until = walk.isHeld === false && { untilMs: heldDueMs - 1 }
  for (const part of await partsOf(database, walk)) {
    for (let after = startIn(part, walk); ;) {
      const entries = await queueHead(database, part, { from: after, limit, ...until, whole: true })
      const last = entries.at(-1)
      if (!last) break
      yield { last, entries }
      if (entries.length < limit) break
      after = behind(last)
    }
  }
}

/** Returns the waiting messages of a list of traces. */
export async function waitingOf(database: Database, walk: QueueWalk, traceIds: readonly string[]): Promise<Waiting[]> {
  const stored = await database.getMany(traces, walk, traceIds)
  const rows = await Promise.all(stored.map(async (one) => one && queuedAt(database, waitingEntry(walk.organizationId, one.record))))
  const entries = rows.filter((entry) => entry !== undefined)
  return fitting(database, walk, entries)
}

/** Returns the parts with mail, in order. Messages without a destination (future captures, pending approvals) are in no part. */
async function partsOf(database: Database, { policy, filter, after }: QueueWalk): Promise<QueuePart[]> {
  const { destinationId, projectId } = filter
  const chosen = destinationId === undefined ? [...policy.destinations.keys()].toSorted() : [destinationId]
  const found: QueuePart[] = []
  for (const id of chosen) {
    if (id === noDestination || !policy.destinations.has(id)) continue
    for (const part of await queuedParts(database, id, true)) {
      const isPast = after && (id < after.destinationId || (id === after.destinationId && part.projectId < after.projectId))
      if (!isPast && policy.projects.has(part.projectId) && (projectId ?? part.projectId) === part.projectId) found.push(part)
    }
  }
  return found
}

/** Returns true if the position follows the other in the queue. */
export function isBehind(one: QueueCursor, other: QueueCursor): boolean {
  const differs = (['destinationId', 'projectId', 'dueMs', 'traceId'] as const).find((name) => one[name] !== other[name])
  return differs !== undefined && one[differs] > other[differs]
}

function startIn(part: QueuePart, { after, isHeld, laterThan = -1 }: QueueWalk): Pick<QueueCursor, 'dueMs' | 'traceId'> {
  const start = { dueMs: isHeld ? heldDueMs : laterThan + 1, traceId: '' }
  const isIn = after?.destinationId === part.destinationId && after.projectId === part.projectId
  return isIn && after.dueMs >= start.dueMs ? behind(after) : start
}

const behind = ({ dueMs, traceId }: Pick<QueueCursor, 'dueMs' | 'traceId'>) => ({ dueMs, traceId: `${traceId}\0` })

async function fitting(database: Database, { organizationId, filter }: QueueWalk, entries: readonly QueueEntry[]): Promise<Waiting[]> {
  const few = entries.filter((entry) => fitsEntry(filter, entry))
  const ids = few.map(({ traceId }) => traceId)
  const found = await database.getMany(traces, { organizationId }, ids, few.map(placeOfWaiting))
  return few.flatMap((entry, i) => {
    const stored = found[i]
    return stored?.record.status === 'queued' && fitsTrace(filter, stored.record) ? [{ entry, stored }] : []
  })
}

/** Returns true if a message at this entry matches the filter. Pure. */
export const fits = (filter: QueueFilter, entry: QueueEntry, trace: Trace): boolean => fitsEntry(filter, entry) && fitsTrace(filter, trace)

function fitsEntry(filter: QueueFilter, { projectId, destinationId, attempts, traceId, acceptedMs }: QueueEntry): boolean {
  return (
    (filter.projectId ?? projectId) === projectId &&
    (filter.destinationId ?? destinationId) === destinationId &&
    attempts >= (filter.minAttempts ?? 0) &&
    (filter.traceIds?.includes(traceId) ?? true) &&
    (acceptedMs === undefined || isAcceptedWithin(filter, acceptedMs))
  )
}

const isAcceptedWithin = ({ acceptedAfter = 0, acceptedBefore = Infinity }: QueueFilter, at: number): boolean =>
  at >= acceptedAfter && at < acceptedBefore

/** Returns true if the filter requires fields that the queue row does not contain. */
const needsTrace = ({ toDomain, from, heldBy, acceptedAfter, acceptedBefore }: QueueFilter, { acceptedMs }: QueueEntry): boolean =>
  [toDomain, from, heldBy].some((one) => one !== undefined) || (acceptedMs === undefined && (acceptedAfter ?? acceptedBefore) !== undefined)

/** Checks the conditions of the filter that concern the trace. Pure. */
function fitsTrace(filter: QueueFilter, trace: Trace): boolean {
  const { toDomain, from, heldBy } = filter
  const { createdAt, headerFrom, mailFrom, recipients } = trace
  return (
    (heldBy === undefined || holdOf(trace)?.actId === heldBy) &&
    isAcceptedWithin(filter, createdAt) &&
    (from === undefined || [headerFrom, mailFrom].some((address) => isFrom(address, from))) &&
    (toDomain === undefined || recipients.some(({ status, address }) => status === 'queued' && domainOf(address) === toDomain))
  )
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

const isFrom = (address: string, wanted: string): boolean =>
  wanted.startsWith('@') ? domainOf(address) === domainOf(wanted) : foldAddress(address) === foldAddress(wanted)
