/** Scheduled sends: list waiting and canceled sends, cancel, reschedule, and send one early. Spec "Scheduled send". */
import type { Page } from '#store/database.ts'
import { dequeueIfWaiting, dequeueIfThere, enqueue, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { listReachable, type List, type OfProject, type PageQuery } from '../../access/principal/lists.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { Refusal } from '../../refusals.ts'
import { advance } from '../../trace/states.ts'
import { afterDecision, waitsForApproval } from '../../trace/approval/held-trace.ts'
import { stageDecision } from '../../trace/approval/stage-decision.ts'
import { keepReturnPaths } from '../../trace/return-paths.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { transact } from '../../writes/transact.ts'
import { checkSendAt } from './send-schedule.ts'

/** Filter of a list of scheduled sends. */
export interface ScheduledFilter extends OfProject {
  /** Both by default. */
  readonly status?: 'queued' | 'canceled' | undefined
}

export interface ScheduledOptions extends Core {
  /** Notified of a queue entry that is due. */
  readonly queued: (entry: QueueEntry) => void
}

export class ScheduledSends implements List<ScheduledFilter, Trace> {
  readonly #options: ScheduledOptions

  constructor(options: ScheduledOptions) {
    this.#options = options
  }

  /** Lists waiting and canceled sends, earliest first. A send that has begun to leave is only a trace. Throws `not_found`. */
  list(principal: Principal, { status, ...query }: PageQuery & ScheduledFilter): Promise<Page<Trace>> {
    const walkOf = (project = '') => ({ index: 'scheduled', values: [project, status ?? ''], ascending: true })
    return listReachable(this.#options, traces, principal, query, walkOf)
  }

  /**
   * Cancels a send that has not begun to leave, and returns its trace. Repeated calls return the same trace. After it resolves, no attempt
   * begins: both writes require an unchanged trace. Throws `not_found`, and `conflict` if delivery has begun.
   */
  async cancel(principal: Principal, traceId: string): Promise<Trace> {
    const { database, clock } = this.#options
    return transact(database, principal, async (change) => {
      const stored = await change.get(traces, traceId)
      if (!stored || stored.record.sendAt === undefined) throw new Refusal('not_found', 'No scheduled send has this trace_id.')
      if (stored.record.status === 'canceled') return stored.record
      refuseTooLate(stored.record)
      const next = canceledTrace(stored.record, clock.now(), principal.credentialId)
      if (waitsForApproval(stored.record)) stageDecision(change, principal.organizationId, stored, next)
      else change.replace(traces, principal.organizationId, stored, next)
      await dequeueIfThere(database, change, waitingEntry(principal.organizationId, stored.record))
      return next
    })
  }

  /**
   * Sends or captures a message now instead of at its time. Repeated calls return the same trace. Throws `not_found`, and `conflict` if the
   * send was canceled, waits for approval or has begun to leave.
   */
  async sendNow(principal: Principal, traceId: string): Promise<Trace> {
    const { clock } = this.#options
    return this.#moved(principal, traceId, (trace) => {
      const { broughtForward, sendAt: planned } = trace
      if (broughtForward) return undefined
      refuseNotWaiting(trace)
      const at = clock.now()
      return { sendAt: at, broughtForward: { at, by: principal.credentialId, planned } }
    })
  }

  /**
   * Changes the time of a send that has not begun to leave. The same time changes nothing. Throws `validation_failed` for a time in the
   * past or too far ahead, `feature_disabled`, `not_found`, and `conflict` if the send was canceled, waits for approval, was brought
   * forward or has begun to leave.
   */
  async reschedule(principal: Principal, traceId: string, sendAt: number): Promise<Trace> {
    const { policies, clock } = this.#options
    const { organization } = await policies.of(principal.organizationId)
    return this.#moved(principal, traceId, (trace) => {
      const { broughtForward, sendAt: from, rescheduled = [] } = trace
      refuseNotWaiting(trace)
      if (broughtForward) throw tooLate()
      if (sendAt === from) return undefined
      const at = clock.now()
      checkSendAt(sendAt, organization, at)
      const [first, ...later] = [...rescheduled, { at, by: principal.credentialId, from }]
      return { sendAt, rescheduled: first ? [first, ...later.slice(-keptMoves)] : [] }
    })
  }

  /**
   * Moves a send in the queue to its next time, or returns it unchanged. An attempt requires an unchanged trace and queue entry, so that
   * the message leaves once in any order of events.
   */
  async #moved(principal: Principal, traceId: string, next: (trace: Planned) => Move | undefined): Promise<Trace> {
    const { database, clock, queued } = this.#options
    const { organizationId } = principal
    const { trace, entry } = await transact(database, principal, async (change) => {
      const stored = await change.get(traces, traceId)
      const planned = stored?.record.sendAt
      if (!stored || planned === undefined) throw new Refusal('not_found', 'No scheduled send has this trace_id.')
      const move = next({ ...stored.record, sendAt: planned })
      if (!move) return { trace: stored.record }
      const moved = { ...stored.record, ...move, nextAttemptAt: move.sendAt, updatedAt: clock.now() }
      if (!(await dequeueIfWaiting(database, change, waitingEntry(organizationId, stored.record)))) throw tooLate()
      const row = waitingEntry(organizationId, moved)
      enqueue(change.replace(traces, organizationId, stored, moved), row)
      keepReturnPaths(change, organizationId, moved, move.sendAt)
      return { trace: moved, entry: row }
    })
    if (entry) queued(entry)
    return trace
  }
}

type Planned = Trace & Readonly<Record<'sendAt', number>>
type Move = Pick<Planned, 'sendAt'> & Pick<Trace, 'broughtForward' | 'rescheduled'>

/** Maximum number of stored time changes, in addition to the first change. */
const keptMoves = 19

function refuseTooLate({ status, begunAt }: Trace): void {
  if (status === 'pending') return // no attempt begins until it is approved
  if (status === 'captured') throw new Refusal('conflict', 'It is too late: the message has been captured.', { nextAction: 'read_trace' })
  if (begunAt !== undefined || status !== 'queued') throw tooLate()
}

const tooLate = (): Refusal =>
  new Refusal('conflict', 'It is too late: delivery of the message has begun. Its trace has the outcome.', { nextAction: 'read_trace' })

function refuseNotWaiting(trace: Trace): void {
  if (trace.status === 'canceled') throw new Refusal('conflict', 'The send was canceled; send a new message.', { nextAction: 'send_again' })
  if (trace.status === 'pending')
    throw new Refusal('conflict', 'The message waits for approval, and leaves at its time once it is approved.', {
      nextAction: 'wait_for_approval',
    })
  refuseTooLate(trace)
  if (trace.held) throw new Refusal('conflict', 'The send is held in the queue; release it first.', { nextAction: 'release' })
}

function canceledTrace(trace: Trace, nowMs: number, by: string): Trace {
  if (waitsForApproval(trace)) return { ...afterDecision(trace, { as: 'withdrawn', at: nowMs, by }), canceled: { at: nowMs, by } }
  const recipients = trace.recipients.map((recipient) => ({ ...recipient, status: advance(recipient.status, 'canceled') }))
  const status = advance(trace.status, 'canceled')
  const { scheduledAddresses: _, held: __, ...kept } = trace
  return { ...kept, status, recipients, nextAttemptAt: null, updatedAt: nowMs, canceled: { at: nowMs, by } }
}
