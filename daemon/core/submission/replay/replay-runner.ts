/**
 * Runs replays, one trace at a time. Trace, queue entry, budget and the job's counters change in one write. A crash therefore never leaves
 * a trace counted but not queued, or queued twice. Unfinished jobs continue on start.
 */
import type { Change } from '#store/change.ts'
import { CursorInvalid } from '#store/cursor.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { primaryOf } from '../../delivery/attempt/failover.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import { readAttempts } from '../../trace/attempts.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { matchingTraces } from '../../trace/trace-search.ts'
import { openReplayKey, openReplaysKey, replayJobs, type ReplayCounters, type ReplayJob } from './replay-job.ts'
import { requeue } from './requeue.ts'
import { allSuppressed, isAllSuppressed, obstacleOf, stageAgain, suppressedSince } from './send-again.ts'
import { StoredJobs } from '../../stored-jobs.ts'
import { transact, type Transaction } from '../../writes/transact.ts'

export interface ReplayRunnerOptions extends Core {
  /** Notifies the queue of a new entry. */
  readonly queued: (entry: QueueEntry) => void
  /** Called with internal errors. The job continues on the next start. */
  readonly onError: (error: unknown, jobId: string) => void
}

const pageRows = 50
/** At least the size of a page, so that no problem is counted twice if a page restarts after a crash. */
const problemsKept = 50

/** Result of one trace; `ended` if the job no longer runs. */
type Replayed = 'counted' | 'skipped' | 'ended'

/** Decision about one trace. */
type Verdict = { readonly next: Trace } | { readonly skip: true } | { readonly refused: string }

export class ReplayRunner {
  readonly #options: ReplayRunnerOptions
  readonly #jobs: StoredJobs

  constructor(options: ReplayRunnerOptions) {
    this.#options = options
    const { database, onError } = options
    this.#jobs = new StoredJobs({
      database,
      onError,
      openKeys: openReplaysKey,
      carryOut: (organizationId, id) => this.#run(organizationId, id),
    })
  }

  /** Continues the unfinished jobs of an earlier process. */
  start(): Promise<void> {
    return this.#jobs.start()
  }

  /** Starts a job. */
  wake(organizationId: string, id: string): void {
    this.#jobs.wake(organizationId, id)
  }

  /** Stops between two traces. Jobs continue on the next start. */
  stop(): Promise<void> {
    return this.#jobs.stop()
  }

  async #run(organizationId: string, id: string): Promise<void> {
    const { database } = this.#options
    for (;;) {
      const job = await database.get(replayJobs, { organizationId }, id)
      if (!job || this.#jobs.stopping || job.record.status !== 'running') return
      await this.#page(organizationId, job)
    }
  }

  async #page(organizationId: string, { record }: Stored<ReplayJob>): Promise<void> {
    const principal: Principal = {
      organizationId,
      projectId: record.projectId,
      bound: record.bound,
      scopes: [],
      credentialId: record.requestedBy,
    }
    const query = { ...record.filter, status: 'failed', ascending: true, limit: pageRows, cursor: record.cursor ?? undefined } as const
    const page = await matchingTraces(this.#options.database, principal, query).catch((error: unknown) => {
      if (!(error instanceof CursorInvalid)) throw error
      return matchingTraces(this.#options.database, principal, { ...query, cursor: undefined }) // an earlier release created the cursor
    })
    const counted = { examined: 0, skipped: 0 }
    for (const trace of page.rows) {
      if (this.#jobs.stopping) return
      if (trace.replays?.some(({ jobId }) => jobId === record.id)) continue // already replayed by this job
      const done = await this.#replay(organizationId, record.id, trace.id)
      if (done === 'ended') return
      if (done === 'skipped') {
        counted.examined++
        counted.skipped++
      }
    }
    await this.#changeJob(organizationId, record.id, (job, change) => {
      const counters = {
        ...job.counters,
        examined: job.counters.examined + counted.examined,
        skipped: job.counters.skipped + counted.skipped,
      }
      if (page.nextCursor !== undefined) return { ...job, counters, cursor: page.nextCursor }
      change.delete(openReplayKey(organizationId, job.id))
      return { ...job, counters, cursor: null, status: 'finished' }
    })
  }

  /** Queues one trace again, while the job runs and no other write changes the trace. */
  async #replay(organizationId: string, jobId: string, traceId: string): Promise<Replayed> {
    const { database, queued } = this.#options
    try {
      const done = await transact(database, { organizationId }, (change) => this.#stage(change, organizationId, jobId, traceId))
      if (typeof done === 'string') return done
      queued(done)
      return 'counted'
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'conflict') throw error
      await this.#end(organizationId, jobId, error.message)
      return 'ended'
    }
  }

  /** Stages the write that queues and counts the trace. Returns its queue entry, or the reason for not queuing it. */
  async #stage(change: Transaction, organizationId: string, jobId: string, traceId: string): Promise<Replayed | QueueEntry> {
    const { database, policies, clock } = this.#options
    const [stored, job] = await Promise.all([change.get(traces, traceId), change.get(replayJobs, jobId)])
    if (job?.record.status !== 'running') return 'ended'
    if (!stored) return 'skipped'
    if (job.record.problems.some((problem) => problem.traceId === traceId)) return 'counted'
    const policy = await policies.of(organizationId)
    const attempts = await readAttempts(database, organizationId, stored.record)
    const now = clock.now()
    const suppressed = await suppressedSince(database, organizationId, stored.record, now)
    const verdict = decide(policy, job.record, stored.record, suppressed, (destinationId) =>
      requeue(stored.record, attempts, { jobId, destinationId, includeUnknown: job.record.includeUnknown, suppressed, now }),
    )
    if ('skip' in verdict) return 'skipped'
    if ('refused' in verdict) {
      const problems = [...job.record.problems, { traceId, reason: verdict.refused }].slice(-problemsKept)
      change.replace(replayJobs, organizationId, job, { ...counting(job.record, 'refused', now), problems })
      return 'counted'
    }
    const { limits, entry } = stageAgain(change, { policy, organizationId, by: job.record.requestedBy, now }, stored, verdict.next)
    for (const [counter, refusal] of limits) change.limits.set(counter, () => refusal)
    change.replace(replayJobs, organizationId, job, counting(job.record, 'replayed', now))
    return entry
  }

  #end(organizationId: string, jobId: string, because: string): Promise<void> {
    return this.#changeJob(organizationId, jobId, (job, change) => {
      change.delete(openReplayKey(organizationId, jobId))
      return { ...job, status: 'stopped', stoppedBecause: because }
    })
  }

  /** Changes the job while it runs. */
  async #changeJob(organizationId: string, id: string, next: (job: ReplayJob, change: Change) => ReplayJob): Promise<void> {
    const { database, clock } = this.#options
    await transact(database, { organizationId }, async (change) => {
      const stored = await change.get(replayJobs, id)
      if (stored?.record.status !== 'running') return
      change.replace(replayJobs, organizationId, stored, { ...next(stored.record, change), updatedAt: clock.now() })
    })
  }
}

/** Decides whether the trace can be sent again, and chooses the destination. */
function decide(
  policy: Policy,
  job: ReplayJob,
  trace: Trace,
  suppressed: ReadonlySet<string>,
  again: (destinationId: string) => Trace | undefined,
): Verdict {
  if (!policy.projects.has(trace.projectId)) return { skip: true }
  const id = job.targetDestinationId ?? primaryOf(trace)
  const obstacle = obstacleOf(policy, trace, id)
  if (obstacle) return { refused: obstacle.message }
  if (trace.status !== 'failed') return { skip: true }
  if (isAllSuppressed(trace, suppressed)) return { refused: allSuppressed.message }
  const next = again(id)
  return next ? { next } : { skip: true }
}

function counting(job: ReplayJob, what: keyof Omit<ReplayCounters, 'examined'>, now: number): ReplayJob {
  const { counters } = job
  return { ...job, updatedAt: now, counters: { ...counters, examined: counters.examined + 1, [what]: counters[what] + 1 } }
}
