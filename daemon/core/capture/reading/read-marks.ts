/**
 * Read marks: progress of body reading in each project, in the order of captures. Updated in memory for each capture and stored
 * occasionally. A crash repeats the last reads, which changes nothing.
 */
import { Change, decode, encode } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import { globalKey, type Stored } from '#store/record-kind.ts'
import { pack, unpack, within, type Element } from '#store/tuple.ts'
import { projects } from '../../tenancy/organization.ts'
import { owners } from '#store/upgrade/carry.ts'
import { captured, traces, type Trace } from '../../trace/trace.ts'
import { transact, type Transaction } from '../../writes/transact.ts'
import { pendingReadKey } from './pending-read.ts'

/** Capture id and trace id, the sort key of captures. */
type Place = readonly [captureId: string, traceId: string]

interface MarkRow {
  readonly place: Place
  readonly version: bigint
}

/** A mark in memory, with the number of reads since it was stored. */
interface Mark {
  readonly organizationId: string
  place: Place
  unsaved: number
}

export const readMarkKey = (organizationId: string, projectId: string): readonly Element[] => [organizationId, 'capture.read', projectId]

/** Maximum number of captures per project that a crash repeats. */
const savedEvery = 64
/** Maximum number of projects in memory. The oldest marks are stored and removed. */
const maxMarks = 10_000

export class ReadMarks {
  readonly #database: Database
  /** By project. */
  readonly #marks = new Map<string, Mark>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the next captures in order. */
  async next(organizationId: string, projectId: string, limit: number): Promise<readonly Stored<Trace>[]> {
    const after = await this.#at(organizationId, projectId)
    const range = { values: [projectId, captured], ascending: true, limit, forWork: true, ...(after && { after }) } as const
    return (await this.#database.list(traces, { organizationId }, range)).rows
  }

  /** Advances the mark past this capture. */
  async pass(organizationId: string, trace: Trace): Promise<void> {
    const mark = this.#put(organizationId, trace)
    mark.unsaved++
    if (mark.unsaved >= savedEvery) await this.save([trace.projectId])
    if (this.#marks.size > maxMarks) await this.save([...this.#marks.keys()].slice(0, savedEvery))
  }

  /** Advances the mark within a write; call `passed` after the commit. */
  async passWith(change: Transaction, organizationId: string, trace: Trace): Promise<void> {
    await this.#write(change, organizationId, trace.projectId, placeOf(trace))
  }

  /** Returns true if the mark of its project has not reached the capture. */
  async isAhead(organizationId: string, trace: Trace): Promise<boolean> {
    const at = await this.#at(organizationId, trace.projectId)
    return !at || isBefore(at, placeOf(trace))
  }

  passed(organizationId: string, trace: Trace): void {
    this.#put(organizationId, trace).unsaved = 0
  }

  /** Stores and removes the marks in memory, of all or of the given projects. */
  async save(projectIds: readonly string[] = [...this.#marks.keys()]): Promise<void> {
    for (const projectId of projectIds) {
      const mark = this.#marks.get(projectId)
      if (!mark) continue
      const { organizationId, place, unsaved } = mark
      if (unsaved > 0) await transact(this.#database, { organizationId }, (change) => this.#write(change, organizationId, projectId, place))
      if (mark.place === place) this.#marks.delete(projectId)
    }
  }

  async #at(organizationId: string, projectId: string): Promise<Place | undefined> {
    return this.#marks.get(projectId)?.place ?? (await storedMark(this.#database, organizationId, projectId))?.place
  }

  /** Writes a mark; never moves it back, and never for a deleted project. */
  async #write(change: Transaction, organizationId: string, projectId: string, place: Place): Promise<void> {
    const stored = await storedMark(this.#database, organizationId, projectId)
    if (!(await change.get(projects, projectId)) || (stored && !isBefore(stored.place, place))) return
    const key = readMarkKey(organizationId, projectId)
    change.check(key, stored?.version).set(key, encode(place))
    setLatest(this.#database, change, place[0])
  }

  #put(organizationId: string, trace: Trace): Mark {
    const mark = this.#marks.get(trace.projectId) ?? { organizationId, place: placeOf(trace), unsaved: 0 }
    mark.place = placeOf(trace)
    this.#marks.set(trace.projectId, mark)
    return mark
  }
}

const placeOf = ({ id, capture }: Trace): Place => [capture?.id ?? '', id]

/** Returns true if the first capture of a project precedes the second. */
const isBefore = ([captureId]: Place, [other]: Place): boolean => captureId < other

const storedMark = async ({ kv }: Database, organizationId: string, projectId: string): Promise<MarkRow | undefined> => {
  const entry = await kv.get(pack(readMarkKey(organizationId, projectId)))
  return entry && { place: decode<Place>(entry.value), version: entry.version }
}

/** Id of the latest marked capture of all projects in the store. */
const latestKey = globalKey('capture.marked')
const latest = new WeakMap<Database, string>()

/** Call at the start, earlier than any capture. */
export async function loadLatestMark(database: Database): Promise<void> {
  const entry = await database.kv.get(pack(latestKey))
  if (entry) latest.set(database, decode<string>(entry.value))
}

/** Returns true if a mark may cover a new capture that is unread: the clock was set back, so that its id precedes the latest mark. */
export const mayBeMarked = (database: Database, captureId: string): boolean => captureId <= (latest.get(database) ?? '')

function setLatest(database: Database, change: Change, captureId: string): void {
  if (!mayBeMarked(database, captureId)) latest.set(database, captureId)
  change.set(latestKey, encode(latest.get(database)))
}

/** Marks that all projects have been converted. */
const carriedKey = globalKey('carried', 'readings')

/**
 * Sets marks for captures of releases before 2026-11-23; their unread captures have rows. Requires exclusive access. Returns the number of
 * projects.
 */
export async function carryReadings(database: Database): Promise<number> {
  if (await database.kv.get(pack(carriedKey))) return 0
  let marked = 0
  for await (const organizationId of owners(database)) {
    const change = new Change()
    for (const { record } of await database.all(projects, { organizationId })) {
      const last = await lastCaptured(database, organizationId, record.id)
      if (!last) continue
      change.set(readMarkKey(organizationId, record.id), encode(last))
      setLatest(database, change, last[0])
      marked++
    }
    if (change.sets.length > 0) await database.commit(change)
  }
  await database.commit(new Change().set(carriedKey))
  return marked
}

/** Set while unread captures have rows, because several daemons share the store. */
const rowsKey = globalKey('carried', 'rows of readings')

/** Converts between rows (several daemons) and marks (a single daemon) at the first start in the other mode. Requires exclusive access. */
export async function switchReadings(database: Database): Promise<void> {
  const hasRows = (await database.kv.get(pack(rowsKey))) !== undefined
  if (hasRows !== database.daemons.isAlone) return
  for await (const organizationId of owners(database)) {
    for (const { record } of await database.all(projects, { organizationId })) {
      if (!hasRows) await rowsBeyondMark(database, organizationId, record.id)
      const last = await lastCaptured(database, organizationId, record.id)
      if (!last) continue
      const change = new Change().set(readMarkKey(organizationId, record.id), encode(last))
      setLatest(database, change, last[0])
      await database.commit(change)
    }
  }
  await database.commit(hasRows ? new Change().delete(rowsKey) : new Change().set(rowsKey))
}

/** Creates a row for each capture that the mark has not reached. */
async function rowsBeyondMark(database: Database, organizationId: string, projectId: string): Promise<void> {
  const marks = new ReadMarks(database)
  for (;;) {
    const unread = await marks.next(organizationId, projectId, savedEvery)
    const last = unread.at(-1)
    if (!last) return
    const change = new Change()
    for (const { record } of unread)
      if (record.capture) change.set(pendingReadKey(organizationId, record.capture.id), Buffer.from(record.id))
    await database.commit(change.set(readMarkKey(organizationId, projectId), encode(placeOf(last.record))))
  }
}

async function lastCaptured({ kv }: Database, organizationId: string, projectId: string): Promise<Place | undefined> {
  const all = within([organizationId, traces.name, projectId, captured])
  for await (const { key } of kv.range({ ...all, reverse: true, limit: 1 })) {
    const [captureId, traceId] = unpack(key).slice(-2)
    return [String(captureId), String(traceId)]
  }
  return undefined
}
