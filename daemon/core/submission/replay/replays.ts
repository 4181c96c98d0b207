/** Bulk replay: sends failed messages again in the background, on request. Spec "Bulk replay job", "Limits" 14. */
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import { type List, type OfProject, type PageQuery, listReachable, sieve } from '../../access/principal/lists.ts'
import { reachableDestination, reachableProject } from '../../access/principal/project-choice.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { requireIncluded } from '../../plan/limits.ts'
import { invalid, Refusal } from '../../refusals.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { matchingTraces } from '../../trace/trace-search.ts'
import { refuseUnseen } from '../../access/principal/agent-approval.ts'
import { onlyProjectOf, openReplayKey, replayJobs, type ReplayFilter, type ReplayJob } from './replay-job.ts'
import { must, transact } from '../../writes/transact.ts'

export interface ReplaysOptions extends Core {
  /** Called after a job is stored and can start. */
  readonly onJob: (organizationId: string, jobId: string) => void
}

/** A requested replay. */
export interface ReplayRequest {
  readonly filter: Omit<ReplayFilter, 'until'> & { readonly until?: number | undefined }
  readonly targetDestinationId?: string | undefined
  readonly includeUnknown: boolean
}

/** Traces that a replay would process. */
export interface ReplayPreview {
  readonly filter: ReplayFilter
  readonly matched: number
  /** False if more traces match than a preview counts. */
  readonly complete: boolean
}

const maxRunning = 3
const previewPage = 200
/** Maximum number of trace pages that a preview reads. */
const maxPreviewPages = 100

export class Replays implements List<OfProject, ReplayJob> {
  readonly #options: ReplaysOptions

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /** Counts the messages that would be sent again. Writes nothing. */
  async preview(principal: Principal, request: ReplayRequest): Promise<ReplayPreview> {
    const filter = await this.#check(principal, request)
    let matched = 0
    let cursor: string | undefined
    for (let page = 0; page < maxPreviewPages; page++) {
      const query = { ...filter, status: 'failed', limit: previewPage, cursor } as const
      const { rows, nextCursor } = await matchingTraces(this.#options.database, principal, query)
      matched += rows.length
      if (nextCursor === undefined) return { filter, matched, complete: true }
      cursor = nextCursor
    }
    return { filter, matched, complete: false }
  }

  /** Stores the job, which then runs in the background. */
  async create(principal: Principal, request: ReplayRequest): Promise<ReplayJob> {
    const { database, writes, clock, onJob } = this.#options
    const job = await writes.run(principal.organizationId, async (change) => {
      const filter = await this.#check(principal, request) // inside the settings write, as the project may be deleted concurrently
      const jobs = await database.all(replayJobs, { organizationId: principal.organizationId })
      if (jobs.filter(({ record }) => record.status === 'running').length >= maxRunning) {
        const message = `${maxRunning} replays are running; wait until a replay ends, or cancel one.`
        throw new Refusal('conflict', message, { nextAction: 'retry_later' })
      }
      const now = clock.now()
      const made = newJob(database.newId('rpl', now), principal, request, filter, now)
      change.insert(replayJobs, principal.organizationId, made).set(openReplayKey(principal.organizationId, made.id))
      return made
    })
    onJob(principal.organizationId, job.id)
    return job
  }

  /** Newest first. */
  list(principal: Principal, query: PageQuery & OfProject): Promise<Page<ReplayJob>> {
    return listReachable(this.#options, replayJobs, principal, query, (project) => ({
      reach: principal,
      sieve: sieve((job) => project === undefined || onlyProjectOf(job) === project),
    }))
  }

  /** Throws `not_found` for unknown ids and for ids of other organizations. */
  async get(principal: Principal, id: string): Promise<ReplayJob> {
    return (await this.#get(principal, id)).record
  }

  /** Stops the job. Messages that are already queued are delivered. A job that has ended does not change. */
  async stop(principal: Principal, id: string): Promise<ReplayJob> {
    const { database, clock } = this.#options
    return transact(database, principal, async (change) => {
      const stored = await change.must(replayJobs, id)
      if (stored.record.status !== 'running') return stored.record
      const job: ReplayJob = { ...stored.record, status: 'stopped', stoppedBecause: 'Stopped on request.', updatedAt: clock.now() }
      change.replace(replayJobs, principal.organizationId, stored, job).delete(openReplayKey(principal.organizationId, id))
      return job
    })
  }

  async #check(principal: Principal, { filter, targetDestinationId }: ReplayRequest): Promise<ReplayFilter> {
    const policy = await this.#options.policies.of(principal.organizationId)
    refuseUnseen(policy, principal)
    requireIncluded(policy.organization, 'bulkReplay', { lacks: 'does not include bulk replay', instead: 'retry traces one by one' })
    const now = this.#options.clock.now()
    const { since, until = Infinity } = filter
    if (since !== undefined && since >= until) throw invalid([{ path: 'filter.since', message: 'must be before filter.until' }])
    if (targetDestinationId !== undefined) checkTarget(policy, principal, targetDestinationId)
    // excludes messages that fail after the request
    return {
      ...filter,
      projectId: reachableProject(principal, policy.projects, filter.projectId, 'filter.project_id'),
      until: Math.min(until, now + 1),
    }
  }

  #get(principal: Principal, id: string): Promise<Stored<ReplayJob>> {
    return must(this.#options.database, replayJobs, principal, id)
  }
}

const newJob = (id: string, principal: Principal, request: ReplayRequest, filter: ReplayFilter, now: number): ReplayJob => ({
  id,
  projectId: principal.projectId,
  bound: principal.bound,
  requestedBy: principal.credentialId,
  filter,
  targetDestinationId: request.targetDestinationId ?? null,
  includeUnknown: request.includeUnknown,
  status: 'running',
  stoppedBecause: null,
  counters: { examined: 0, replayed: 0, skipped: 0, refused: 0 },
  problems: [],
  cursor: null,
  createdAt: now,
  updatedAt: now,
})

function checkTarget({ destinations }: Policy, principal: Principal, id: string): void {
  const destination = reachableDestination(principal, destinations, id)
  const path = 'target_destination_id'
  if (!destination) throw invalid([{ path, message: 'no destination that you can access has this id' }])
  if (destination.mode !== 'live') throw invalid([{ path, message: 'is in sandbox mode; promote it to live first' }])
}
