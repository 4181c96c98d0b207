/** Retries one trace: sends a failed message again, or brings its next attempt forward. Spec "Trace status". */
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
  /** Called when the message is queued and an attempt may begin. */
  readonly queued: (entry: QueueEntry) => void
}

/** Result of a staged retry: the write's limits and the queue entry. */
interface Staged {
  readonly trace: Trace
  readonly entry: QueueEntry
  readonly limits: Limits
}

/** Next step for a message that cannot be retried, by status. */
const settled: Partial<Record<TraceStatus, readonly [message: string, nextAction: string]>> = {
  pending: ['The message waits until a person has approved it; it then leaves by itself.', 'wait_for_approval'],
  sent: ['The provider has accepted the message for every recipient; there is nothing to retry.', 'read_trace'],
  delivered: ['The message was delivered; there is nothing to retry.', 'read_trace'],
  bounced: ['The message bounced after the provider had accepted it; correct the address and send a new message.', 'send_again'],
  complained: ['The recipient reported the message as spam; do not send it again.', 'read_trace'],
  suppressed: ['Every recipient is suppressed; remove the suppression, then send a new message.', 'remove_suppression'],
  captured: ['The message was captured and not sent; outcome_reason states why. Correct that, then send a new message.', 'send_again'],
  canceled: ['The send was canceled before delivery; send a new message.', 'send_again'],
  validation_failed: ['The request was refused, and no message was stored; correct it and send again.', 'fix_request'],
}

export class Retries {
  readonly #options: RetriesOptions

  constructor(options: RetriesOptions) {
    this.#options = options
  }

  /**
   * Queues the message immediately for the recipients that have not received it, with a new retry schedule. Returns a trace unchanged if
   * its attempt is due or running. A failed message counts as a send. Throws `not_found`, the refusals of plan and budget, and `conflict`
   * if no recipient can be retried or all outcomes are unknown.
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

  /** Returns undefined if an attempt is due or running. */
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
   * Returns undefined if the attempt has begun (hidden by a wall clock that was set back) or another queue entry will attempt the message.
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
    ? new Refusal('conflict', 'The message is held in the queue; release it to start an attempt.', { nextAction: 'release' })
    : new Refusal('conflict', 'The message was dropped while an attempt was under way; send a new message.', { nextAction: 'send_again' })

const unknownOutcome = (): Refusal =>
  new Refusal(
    'conflict',
    'The last attempt ended without a reply, so the provider may have accepted the message; give include_unknown to risk a second copy.',
    { nextAction: 'include_unknown' },
  )
