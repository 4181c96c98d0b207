/** Scheduled sends: those that wait or were canceled, and the cancel. Spec "Scheduled send". */
import { Change } from '#store/change.ts'
import type { Database, Page } from '#store/database.ts'
import { dequeueIfThere } from '#store/queue.ts'
import { reachableProject } from '../access/project-choice.ts'
import type { Scope } from '../access/scope.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../refusals.ts'
import type { Policies } from '../routing/policy.ts'
import { advance } from '../trace/states.ts'
import { traces, type Trace } from '../trace/trace.ts'
import { waitingEntry } from '../trace/waiting-entry.ts'

export interface ScheduledSendsOptions {
  readonly database: Database
  readonly policies: Policies
  readonly clock: Clock
}

/** What a list of scheduled sends can be narrowed to. */
export interface ScheduledFilter {
  /** Both unless told. */
  readonly status?: 'queued' | 'canceled' | undefined
  readonly projectId?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export class ScheduledSends {
  readonly #options: ScheduledSendsOptions

  constructor(options: ScheduledSendsOptions) {
    this.#options = options
  }

  /** Those that wait and those that were canceled, the earliest first; one that has begun to leave is in the traces only. Throws `not_found`. */
  async list(scope: Scope, { status, projectId, limit, cursor }: ScheduledFilter): Promise<Page<Trace>> {
    const { database, policies } = this.#options
    const { projects } = await policies.of(scope.organizationId)
    const place = reachableProject(scope, projects, projectId, 'project') ?? ''
    const page = await database.list(traces, scope, { index: 'scheduled', values: [place, status ?? ''], limit, cursor, ascending: true })
    return { rows: page.rows.map(({ record }) => record), nextCursor: page.nextCursor }
  }

  /**
   * Cancels a send that has not begun to leave, and answers its trace; again, it answers the same. Once this resolves, no attempt
   * begins: both change the trace on condition that the other has not. Throws `not_found`, and `conflict` when it is too late.
   */
  async cancel(scope: Scope, traceId: string): Promise<Trace> {
    const { database, clock } = this.#options
    for (;;) {
      const stored = await database.get(traces, scope, traceId)
      if (!stored || stored.record.sendAt === undefined) throw new Refusal('not_found', 'No scheduled send has this trace_id.')
      if (stored.record.status === 'canceled') return stored.record
      refuseTooLate(stored.record)
      const next = canceledTrace(stored.record, clock.now(), scope.grantId)
      const change = new Change().replace(traces, scope.organizationId, stored, next)
      const result = await database.commit(await dequeueIfThere(database, change, waitingEntry(scope.organizationId, stored.record)))
      if (result.ok) return next
    }
  }
}

function refuseTooLate({ status, begunAt }: Trace): void {
  if (status === 'captured') throw new Refusal('conflict', 'It is too late: the message has been captured.', { nextAction: 'read_trace' })
  if (begunAt !== undefined || status !== 'queued')
    throw new Refusal('conflict', 'It is too late: the message has begun to leave. Its trace tells what became of it.', {
      nextAction: 'read_trace',
    })
}

function canceledTrace(trace: Trace, nowMs: number, by: string): Trace {
  const recipients = trace.recipients.map((recipient) => ({ ...recipient, status: advance(recipient.status, 'canceled') }))
  const status = advance(trace.status, 'canceled')
  const { scheduledAddresses: _, ...kept } = trace
  return { ...kept, status, recipients, nextAttemptAt: null, updatedAt: nowMs, canceled: { at: nowMs, by } }
}
