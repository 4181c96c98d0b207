/** Queue operations for people: list waiting messages; hold, release, expedite and drop by filter, after a count. */
import type { Change } from '#store/change.ts'
import { cursorAt, keyAt } from '#store/cursor.ts'
import type { Database, Page } from '#store/database.ts'
import { pack, unpack } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { reachableDestination, reachableProject } from '../../access/principal/project-choice.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { QueueActName } from '../../trace/acts/act-record.ts'
import { actorOf, type Actor } from '../../writes/audit.ts'
import { must, transact } from '../../writes/transact.ts'
import { counted, stageEnd } from './act-runner.ts'
import { openActKey, queueActRecords, type CountedAct, type QueueAct, type QueueFilter } from './queue-act.ts'
import { queuedMessage, type QueuedMessage } from './queued-message.ts'
import { countQueue, type QueueCounts } from './queue-counts.ts'
import { rangeOf, walkQueue, type QueueCursor, type QueueWalk } from './queue-walk.ts'

export interface QueueActsOptions extends Core {
  /** Called after an act is stored and can start. */
  readonly onAct: (organizationId: string, actId: string) => void
}

export interface ActRequest {
  readonly act: QueueActName
  readonly filter: QueueFilter
  readonly reason?: string | undefined
}

/** Messages that an act would affect. */
export interface ActPreview extends ActRequest, QueueCounts {}

/** Requester of an act. The operator uses no key of the organization. */
export interface ActRequester {
  readonly principal: Principal
  readonly actor?: Actor | undefined
}

const maxRunning = 3
/** Maximum entries scanned for one page of the list. A page may be short if few match. */
const maxPageLooks = 5000
const listName = ['queue of people']

export class QueueActs implements List<OfProject, CountedAct> {
  readonly #options: QueueActsOptions

  constructor(options: QueueActsOptions) {
    this.#options = options
  }

  /** Lists waiting messages in queue order: by destination and project, then by due time. Throws `not_found`. */
  async waiting(
    principal: Principal,
    { limit, cursor, ...filter }: PageQuery & QueueFilter & { readonly isHeld?: boolean | undefined },
  ): Promise<Page<QueuedMessage>> {
    const now = this.#options.clock.now()
    const walk = { ...(await this.#walk(principal, filter)), after: cursor === undefined ? undefined : toCursor(principal, cursor) }
    const rows: QueuedMessage[] = []
    let looks = 0
    for await (const { last, found, looked } of walkQueue(this.#options.database, { ...walk, isHeld: filter.isHeld })) {
      for (const one of found) {
        rows.push(queuedMessage(one, now))
        if (rows.length === limit) return { rows, nextCursor: fromCursor(principal, one.entry) }
      }
      looks += looked
      if (looks >= maxPageLooks) return { rows, nextCursor: fromCursor(principal, last) }
    }
    return { rows, nextCursor: undefined }
  }

  /** Counts waiting messages by destination and project. Throws `not_found`. */
  async counts(principal: Principal, { isHeld, ...filter }: QueueFilter & { readonly isHeld?: boolean | undefined }): Promise<QueueCounts> {
    return countQueue(this.#options.database, { ...(await this.#walk(principal, filter)), isHeld })
  }

  /** Counts the messages that an act would affect now. Writes nothing. Returns the filter limited to messages accepted until now. */
  async preview({ principal }: ActRequester, request: ActRequest): Promise<ActPreview> {
    const walk = { ...(await this.#walk(principal, this.#bounded(request.filter))), ...rangeOf(request.act, this.#options.clock.now()) }
    return { ...request, filter: walk.filter, ...(await countQueue(this.#options.database, walk)) }
  }

  /** Stores the act, which then runs in the background. Throws `conflict` if more messages match than `expected`, or too many acts run. */
  async create(requester: ActRequester, request: ActRequest & { readonly expected: number }): Promise<CountedAct> {
    const preview = await this.preview(requester, request)
    if (preview.matched > request.expected) throw moreThan(preview.matched, request.expected)
    return this.#write(requester, { ...request, ...preview })
  }

  /** Creates an act for all matching messages of a standing hold, without a limit. `stage` adds to the write that creates the act. */
  async createWhole(
    requester: ActRequester,
    request: ActRequest & { readonly ofHold: string },
    stage: (change: Change, act: QueueAct) => Promise<void>,
  ): Promise<CountedAct> {
    const preview = await this.preview(requester, request)
    return this.#write(requester, { ...request, ...preview, expected: preview.matched, until: null }, stage)
  }

  async #write(
    requester: ActRequester,
    request: ActPreview & { readonly expected: number; readonly ofHold?: string },
    stage?: (change: Change, act: QueueAct) => Promise<void>,
  ): Promise<CountedAct> {
    const { database, writes, clock, audit, onAct } = this.#options
    const { principal, actor = actorOf(principal) } = requester
    const { organizationId } = principal
    const made = await writes.run(organizationId, async (change) => {
      const all = await database.all(queueActRecords, { organizationId })
      if (all.filter(({ record }) => record.status === 'running').length >= maxRunning) {
        const message = `${maxRunning} acts on the queue are running; wait until an act ends, or stop one.`
        throw new Refusal('conflict', message, { nextAction: 'retry_later' })
      }
      const act = newAct(database, requester, request, actor, clock.now())
      change.insert(queueActRecords, organizationId, act).set(openActKey(organizationId, act.id))
      const { filter, matched } = request
      audit.record(change, {
        ...{ organizationId, actor, act: `queue.${pastOf[act.act]}`, target: act.id },
        projectId: principal.bound ? principal.projectId : filter.projectId,
        details: { filter: wireFilter(filter), matched, ...(act.reason !== null && { reason: act.reason }) },
      })
      await stage?.(change, act)
      return act
    })
    onAct(organizationId, made.id)
    return counted(this.#options, organizationId, made)
  }

  /** Lists acts, newest first, with their current counts. */
  async list(principal: Principal, query: PageQuery & OfProject): Promise<Page<CountedAct>> {
    const page = await listReachable(this.#options, queueActRecords, principal, query)
    return { ...page, rows: await Promise.all(page.rows.map((act) => counted(this.#options, principal.organizationId, act))) }
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<CountedAct> {
    const { record } = await must(this.#options.database, queueActRecords, principal, id)
    return counted(this.#options, principal.organizationId, record)
  }

  /** Stops the act. Changes already made remain. An act that has ended does not change. */
  async stop({ principal, actor = actorOf(principal) }: ActRequester, id: string): Promise<CountedAct> {
    const { database, clock, audit } = this.#options
    const ended = await transact(database, principal, async (change) => {
      const stored = await change.must(queueActRecords, id)
      if (stored.record.status !== 'running') return stored.record
      audit.record(change, {
        ...{ organizationId: principal.organizationId, actor, act: 'queue.act_stopped', target: id },
        projectId: principal.bound ? principal.projectId : stored.record.filter.projectId,
        details: {},
      })
      const end = { status: 'stopped', stoppedBecause: 'Stopped on request.', updatedAt: clock.now() } as const
      return stageEnd(change, { organizationId: principal.organizationId, stored }, end)
    })
    return counted(this.#options, principal.organizationId, ended)
  }

  /** Excludes messages accepted after the request. */
  #bounded(filter: QueueFilter): QueueFilter {
    const { acceptedAfter, acceptedBefore = Infinity } = filter
    if (acceptedAfter !== undefined && acceptedAfter >= acceptedBefore)
      throw invalid([{ path: 'filter.accepted_after', message: 'must be before filter.accepted_before' }])
    return { ...filter, acceptedBefore: Math.min(acceptedBefore, this.#options.clock.now() + 1) }
  }

  async #walk(principal: Principal, filter: QueueFilter): Promise<QueueWalk> {
    const { organizationId } = principal
    const policy = await this.#options.policies.of(organizationId)
    const projectId = reachableProject(principal, policy.projects, filter.projectId, 'project_id')
    if (filter.destinationId !== undefined && !reachableDestination(principal, policy.destinations, filter.destinationId))
      throw new Refusal('not_found', 'destination_id: no destination has this id.')
    return { organizationId, policy, filter: { ...filter, ...(projectId !== undefined && { projectId }) } }
  }
}

/** Names of acts in the audit log. */
const pastOf = { hold: 'held', release: 'released', expedite: 'expedited', drop: 'dropped' } as const

const moreThan = (matched: number, expected: number): Refusal =>
  new Refusal('conflict', `${matched} messages match now, and ${expected} were expected; repeat the dry run and check its result.`, {
    nextAction: 'dry_run_again',
    details: { matched },
  })

const newAct = (
  database: Database,
  { principal }: ActRequester,
  request: ActRequest & { readonly expected: number; readonly until: QueueAct['until'] | null; readonly ofHold?: string },
  { kind, id }: Actor,
  now: number,
): QueueAct => ({
  ...{ id: database.newId('qac', now), projectId: principal.projectId, bound: principal.bound },
  ...{ act: request.act, filter: request.filter, reason: request.reason ?? null, expected: request.expected },
  ...(request.until && { until: request.until }),
  ...(request.ofHold !== undefined && { ofHold: request.ofHold }),
  ...{ by: { kind, id }, status: 'running', stoppedBecause: null, cursor: null },
  ...{ createdAt: now, updatedAt: now },
})

/** Filter as shown in the audit log. */
const wireFilter = ({ traceIds, ...filter }: QueueFilter): Record<string, unknown> => ({
  ...Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  ),
  ...(traceIds && { trace_ids: traceIds }),
})

const fromCursor = ({ organizationId }: Principal, { destinationId, projectId, dueMs, traceId }: QueueCursor): string => {
  const list = [...listName, organizationId]
  return cursorAt(list, pack([...list, destinationId, projectId, dueMs, traceId]))
}

/** Throws `CursorInvalid`. */
function toCursor({ organizationId }: Principal, cursor: string): QueueCursor {
  const [, , destinationId, projectId, dueMs, traceId] = unpack(keyAt([...listName, organizationId], cursor))
  return { destinationId: String(destinationId), projectId: String(projectId), dueMs: Number(dueMs), traceId: String(traceId) }
}
