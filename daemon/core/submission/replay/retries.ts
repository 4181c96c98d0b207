/** Retry of one trace: what failed goes again, and what waits for its next attempt has it now. Spec "Trace status". */
import { Change } from '#store/change.ts'
import { dequeueIfWaiting, enqueue, type QueueEntry } from '#store/queue.ts'
import type { Stored } from '#store/record-kind.ts'
import type { Core } from '../../core.ts'
import type { Principal } from '../../access/principal/principal.ts'
import { actorOf } from '../../writes/audit.ts'
import { primaryOf } from '../../delivery/attempt/failover.ts'
import { Refusal } from '../../refusals.ts'
import { readAttempts } from '../../trace/attempts.ts'
import type { TraceStatus } from '../../trace/states.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import type { Limits } from '../accept/accept-gates.ts'
import { leftUnknown, requeue, withReplay } from './requeue.ts'
import { allSuppressed, isAllSuppressed, obstacleOf, stageAgain, suppressedSince } from './send-again.ts'
import { transact } from '../../writes/transact.ts'

export interface RetriesOptions extends Core {
  /** Called when the message stands in the queue and may be attempted. */
  readonly queued: (entry: QueueEntry) => void
}

/** The rest of a decision: the write's limits, and the place in the queue. */
interface Staged {
  readonly trace: Trace
  readonly entry: QueueEntry
  readonly limits: Limits
}

/** What else is to be done with a message that cannot be retried. */
const settled: Partial<Record<TraceStatus, readonly [message: string, nextAction: string]>> = {
  pending: ['The message waits until a person has approved it; it then leaves by itself.', 'wait_for_approval'],
  sent: ['The provider has the message for every recipient; nothing is left to send.', 'read_trace'],
  delivered: ['The message was delivered; nothing is left to send.', 'read_trace'],
  bounced: ['The message bounced after the provider had accepted it; correct the address and send a new message.', 'send_again'],
  complained: ['The recipient reported the message as spam; do not send it again.', 'read_trace'],
  suppressed: ['Every recipient is suppressed; remove the suppression, then send a new message.', 'remove_suppression'],
  captured: ['The message was captured and not sent; outcome_reason states why. Correct that, then send a new message.', 'send_again'],
  canceled: ['The send was canceled before it left; send a new message.', 'send_again'],
  validation_failed: ['The request was refused, and no message was kept; correct it and send again.', 'fix_request'],
}

export class Retries {
  readonly #options: RetriesOptions

  constructor(options: RetriesOptions) {
    this.#options = options
  }

  /**
   * Queues the message now for its recipients who have not got it, with a new schedule of retries; one whose attempt is due or under
   * way is returned as it is. Counts as a send when it had failed. Throws `not_found`, `conflict` with what to do when there is nothing
   * to retry or all outcomes are unknown, and the refusals of plan and budget.
   */
  async retry(principal: Principal, traceId: string, { includeUnknown }: { readonly includeUnknown: boolean }): Promise<Trace> {
    const { database, queued } = this.#options
    const { trace, entry } = await transact(database, principal, async (change) => {
      const stored = await change.get(traces, traceId)
      if (!stored) throw new Refusal('not_found', 'No trace has this trace_id.')
      const staged = await this.#stage(change, principal, stored, includeUnknown)
      if (!staged) return { trace: stored.record, entry: undefined }
      for (const [counter, refusal] of staged.limits) change.limits.set(counter, () => refusal)
      this.#options.audit.record(change, {
        organizationId: principal.organizationId,
        actor: actorOf(principal),
        act: 'trace.retried',
        target: stored.record.id,
        projectId: stored.record.projectId,
        details: {},
      })
      return staged
    })
    if (entry) queued(entry)
    return trace
  }

  /** Undefined when an attempt is due or under way already. */
  async #stage(change: Change, principal: Principal, stored: Stored<Trace>, includeUnknown: boolean): Promise<Staged | undefined> {
    const { database, policies, clock } = this.#options
    const { organizationId } = principal
    const { record } = stored
    const now = clock.now()
    refuseSettled(record)
    if (record.held || record.isDropped) throw heldOrDropped(record)
    if (record.status === 'queued' && (record.nextAttemptAt ?? 0) <= now) return undefined
    const attempts = await readAttempts(database, organizationId, record)
    const unknown = includeUnknown ? new Set<string>() : leftUnknown(record, attempts)
    if (record.status === 'queued') {
      if (record.recipients.some(({ address, status }) => status === 'queued' && unknown.has(address))) throw unknownOutcome()
      return this.#bringForward(change, organizationId, stored, now)
    }
    const policy = await policies.of(organizationId)
    const destinationId = primaryOf(record)
    const suppressed = await suppressedSince(database, organizationId, record, now)
    const obstacle = obstacleOf(policy, record, destinationId) ?? (isAllSuppressed(record, suppressed) ? allSuppressed : undefined)
    if (obstacle) throw new Refusal('conflict', obstacle.message, obstacle)
    const next = requeue(record, attempts, { destinationId, includeUnknown, suppressed, now })
    if (!next) throw unknownOutcome()
    return { trace: next, ...stageAgain(change, { policy, organizationId, by: principal.credentialId, now }, stored, next) }
  }

  /**
   * Undefined when its attempt has begun, which a wall clock that was set back hides, or when it stands elsewhere and is attempted from
   * there.
   */
  async #bringForward(change: Change, organizationId: string, stored: Stored<Trace>, now: number): Promise<Staged | undefined> {
    const { record } = stored
    const recipients = record.recipients.filter(({ status }) => status === 'queued').length
    const trace = withReplay(
      { ...record, nextAttemptAt: now, updatedAt: now },
      { destinationId: record.destinationId ?? '', recipients, now },
    )
    if (!(await dequeueIfWaiting(this.#options.database, change, waitingEntry(organizationId, record)))) return undefined
    const entry = waitingEntry(organizationId, trace)
    enqueue(change.rewrite(traces, organizationId, stored, trace), entry)
    return { trace, entry, limits: new Map() }
  }
}

function refuseSettled({ status, sendAt, begunAt }: Trace): void {
  const known = settled[status]
  if (known) throw new Refusal('conflict', known[0], { nextAction: known[1] })
  if (status === 'queued' && sendAt !== undefined && begunAt === undefined) {
    const at = new Date(sendAt).toISOString()
    const instead = 'cancel it (DELETE /v1/messages/scheduled/{trace_id}) and send a new message without send_at to send it now'
    throw new Refusal('conflict', `The message is scheduled for ${at}; ${instead}.`, { nextAction: 'wait_or_cancel' })
  }
}

const heldOrDropped = ({ held }: Trace): Refusal =>
  held
    ? new Refusal('conflict', 'The message is held in the queue; release it, then it is attempted.', { nextAction: 'release' })
    : new Refusal('conflict', 'The message was dropped while an attempt was under way; send a new message.', { nextAction: 'send_again' })

const unknownOutcome = (): Refusal =>
  new Refusal(
    'conflict',
    'The last attempt ended without a reply, so the provider may have accepted the message; give include_unknown to risk a second copy.',
    { nextAction: 'include_unknown' },
  )
