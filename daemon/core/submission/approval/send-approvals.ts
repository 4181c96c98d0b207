/** Messages of agents that wait for a person: shown as they will be sent, approved once, refused, or withdrawn. */
import { readContent } from '#store/content.ts'
import type { Change } from '#store/change.ts'
import { dequeueIfThere, enqueue, type QueueEntry } from '#store/queue.ts'
import type { Core } from '../../core.ts'
import { requireScope, type Principal } from '../../access/principal/principal.ts'
import type { RawMessage } from '../../capture/reading/readings.ts'
import type { ReadResult } from '../../capture/reading/message-reader.ts'
import type { Readings } from '../../capture/reading/readings.ts'
import { Refusal } from '../../refusals.ts'
import { addressOf } from '../../routing/destination.ts'
import { obstacleOf, type Obstacle } from '../replay/send-again.ts'
import type { Policy } from '../../routing/policy/policy.ts'
import type { Acceptance } from '../submission.ts'
import { afterDecision, digestOf, waitsForApproval, type HeldTrace } from '../../trace/approval/held-trace.ts'
import { approvalPath } from '../../trace/approval/asked.ts'
import { stageDecision, type FollowDecision } from '../../trace/approval/stage-decision.ts'
import type { ApprovalDecision } from '../../trace/approval/trace-approval.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { waitingEntry } from '../../trace/waiting-entry.ts'
import { actorOf } from '../../writes/audit.ts'
import { must, transact } from '../../writes/transact.ts'

/** Whoever repeats a call waits so long for the decision at most. */
const [lookMs, maxLooks] = [1000, 45]
/** Calls that wait at a time; further ones return at once that the message waits. */
const maxWaits = 200

export interface SendApprovalsOptions extends Core {
  readonly readings: Pick<Readings, 'read' | 'attachment'>
  /** Address of the pages for people, without a slash at the end. */
  readonly origin: string
  /** Called when the message stands in the queue and may be attempted. */
  readonly queued: (entry: QueueEntry) => void
  readonly followDecision: FollowDecision
}

/** Whoever decides: a signed-in person. */
export interface Approver {
  readonly userId: string
  readonly email: string
}

/** What a message waits for. */
export interface AwaitedApproval {
  /** The page on which a person decides. */
  readonly url: string
  readonly digest: string
  readonly expiresAt: number
}

/** `approval` is there while it waits. */
export interface OutcomeSoFar extends Pick<Acceptance, 'traceId' | 'outcome' | 'status'> {
  readonly approval?: AwaitedApproval
}

/** A message as its approver sees it. */
export interface ShownApproval {
  readonly trace: HeldTrace
  readonly read: ReadResult
  readonly projectName: string
  /** The destination with where its mail goes now; undefined once it was deleted. */
  readonly destination: string | undefined
  /** Where it goes when the destination does not take it, as it was when the agent asked; with those that were deleted since. */
  readonly fallbacks: readonly string[]
  /** Why it cannot be approved now, although it waits, as a sentence. */
  readonly obstacle: string | undefined
  readonly isExpired: boolean
}

export class SendApprovals {
  readonly #options: SendApprovalsOptions
  #waits = 0

  constructor(options: SendApprovalsOptions) {
    this.#options = options
  }

  /**
   * The approval that the message waits for, or that it is on its way. `orderDigest`: of the request that is repeated, by who submitted
   * it. Throws `conflict` with what to do when it will not be sent, or when the request is another one now.
   */
  async outcomeOf(principal: Principal, traceId: string, orderDigest?: string): Promise<OutcomeSoFar> {
    const trace = heldOf((await must(this.#options.database, traces, principal, traceId)).record)
    const { approval, submittedBy } = trace
    if (orderDigest !== undefined) {
      if (submittedBy !== principal.credentialId) throw noApproval()
      if (approval.orderDigest !== orderDigest) throw otherRequest()
    }
    const ended = approval.decision?.as ?? (this.#isExpired(trace) ? 'expired' : undefined)
    const isLater = trace.sendAt !== undefined
    if (ended === 'approved') return { traceId, outcome: 'relayed', status: isLater ? 'queued' : undefined }
    if (ended) throw new Refusal('conflict', endedWords[ended], { nextAction: ended === 'refused' ? 'ask_user' : 'send_again' })
    const url = this.#options.origin + approvalPath(principal.organizationId, traceId)
    const awaited = { url, digest: approval.digest, expiresAt: approval.expiresAt }
    return { traceId, outcome: 'relayed', status: 'awaiting_approval', approval: awaited }
  }

  /**
   * The same when the call is repeated after the user was shown the page: waits a while for the decision. With `isDeclined` the message is
   * withdrawn.
   */
  async continue(
    principal: Principal,
    { traceId, isDeclined }: { readonly traceId: string; readonly isDeclined: boolean },
    orderDigest: string,
    signal: AbortSignal,
  ): Promise<OutcomeSoFar> {
    let outcome = await this.outcomeOf(principal, traceId, orderDigest)
    if (isDeclined) {
      await this.#withdraw(principal, traceId)
      return this.outcomeOf(principal, traceId, orderDigest)
    }
    if (this.#waits >= maxWaits) return outcome
    this.#waits++
    try {
      for (let looks = 0; outcome.approval && looks < maxLooks && !signal.aborted; looks++) {
        await this.#pause(signal)
        outcome = await this.outcomeOf(principal, traceId, orderDigest)
      }
    } finally {
      this.#waits--
    }
    return outcome
  }

  /** Everything that is approved. Throws `not_found` alike for missing and foreign ids, and for messages that need no approval. */
  async show(principal: Principal, traceId: string): Promise<ShownApproval> {
    requireScope(principal, 'api:read')
    const { database, policies, readings } = this.#options
    const trace = heldOf((await must(database, traces, principal, traceId)).record)
    const policy = await policies.of(principal.organizationId)
    const destination = policy.destinations.get(trace.destinationId ?? '')
    return {
      trace,
      read: await readings.read(principal.organizationId, trace),
      projectName: policy.projects.get(trace.projectId)?.name ?? '',
      destination: destination && `${destination.name} (${addressOf(destination)})`,
      fallbacks: (trace.approval.fallbacks ?? []).map(({ id, through }) => `${policy.destinations.get(id)?.name ?? id} (${through})`),
      obstacle: waitsForApproval(trace) ? obstacleNow(policy, trace)?.message : undefined,
      isExpired: this.#isExpired(trace),
    }
  }

  /** The message as it will be sent, piece by piece. */
  async raw(principal: Principal, traceId: string): Promise<RawMessage> {
    const { content } = heldOf((await must(this.#options.database, traces, principal, traceId)).record)
    return { size: content.size, pieces: readContent(this.#options.database, principal.organizationId, content) }
  }

  /** The decoded bytes of one attachment, by its place in the message. */
  async attachment(principal: Principal, traceId: string, index: number): Promise<Uint8Array> {
    const { database, readings } = this.#options
    const trace = heldOf((await must(database, traces, principal, traceId)).record)
    const bytes = await readings.attachment(principal.organizationId, trace, index)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    return bytes
  }

  /**
   * Sends the message, once: with this resolving it stands in the queue. Throws `conflict` when the message is not the one of this digest,
   * was decided about already, or cannot leave by its destination any more, and `insufficient_scope` for whoever may not send.
   */
  approve(principal: Principal, traceId: string, digest: string, by: Approver): Promise<Trace> {
    return this.#decide(principal, traceId, { as: 'approved', digest, by })
  }

  /** The message is never sent. */
  refuse(principal: Principal, traceId: string, digest: string, by: Approver): Promise<Trace> {
    return this.#decide(principal, traceId, { as: 'refused', digest, by })
  }

  /** A message that does not wait stays as it is. */
  async #withdraw(principal: Principal, traceId: string): Promise<void> {
    const { database, clock } = this.#options
    await transact(database, principal, async (change) => {
      const stored = await change.must(traces, traceId)
      const held = heldOf(stored.record)
      if (!waitsForApproval(stored.record)) return
      const decision = { as: 'withdrawn', at: clock.now(), by: principal.credentialId } as const
      await this.#write(change, principal.organizationId, { ...stored, record: held }, afterDecision(held, decision))
    })
  }

  async #decide(principal: Principal, traceId: string, decided: Decided): Promise<Trace> {
    requireScope(principal, 'api:send')
    const { database, policies, clock, audit, queued } = this.#options
    const { as, digest, by } = decided
    const { trace, entry } = await transact(database, principal, async (change) => {
      const stored = await change.must(traces, traceId)
      const held = heldOf(stored.record)
      const { decision: made } = held.approval
      if (!waitsForApproval(stored.record)) throw new Refusal('conflict', decidedWords(made), { nextAction: 'read_trace' })
      if (this.#isExpired(held)) throw new Refusal('conflict', endedWords.expired, { nextAction: 'read_trace' })
      if (digest !== held.approval.digest || digest !== digestOf(held, held.approval)) throw otherMessage()
      const policy = await policies.of(principal.organizationId)
      if (!policy.projects.has(held.projectId)) throw noApproval()
      const obstacle = as === 'approved' ? obstacleNow(policy, held) : undefined
      if (obstacle) throw new Refusal('conflict', obstacle.message, obstacle)
      const next = afterDecision(held, { as, at: clock.now(), by: by.userId, email: by.email })
      audit.record(change, {
        organizationId: principal.organizationId,
        actor: actorOf(principal),
        act: `send.${as}`,
        target: traceId,
        projectId: held.projectId,
        details: { digest },
      })
      return { trace: next, entry: await this.#write(change, principal.organizationId, { ...stored, record: held }, next) }
    })
    if (entry) queued(entry)
    return trace
  }

  async #write(
    change: Change,
    organizationId: string,
    stored: { readonly record: HeldTrace; readonly version: bigint },
    next: Trace,
  ): Promise<QueueEntry | undefined> {
    const { database, followDecision } = this.#options
    stageDecision(change, organizationId, stored, next)
    await followDecision(database, change, organizationId, next)
    await dequeueIfThere(database, change, waitingEntry(organizationId, stored.record))
    if (next.nextAttemptAt === null) return undefined
    const entry = waitingEntry(organizationId, next)
    enqueue(change, entry)
    return entry
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#options.clock.after(lookMs, resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    return promise.finally(() => timer.cancel())
  }

  #isExpired({ approval }: HeldTrace): boolean {
    return approval.decision === undefined && approval.expiresAt <= this.#options.clock.now()
  }
}

interface Decided {
  readonly as: 'approved' | 'refused'
  readonly digest: string
  readonly by: Approver
}

/** Why the message cannot leave as it was asked for; undefined when it can. */
function obstacleNow(policy: Policy, held: HeldTrace): Obstacle | undefined {
  const obstacle = obstacleOf(policy, held, held.destinationId ?? '')
  const destination = policy.destinations.get(held.destinationId ?? '')
  const { through } = held.approval
  if (obstacle || !destination || through === undefined || addressOf(destination) === through) return obstacle
  const message = `The destination ${destination.name} delivers through ${addressOf(destination)} now, and did through ${through} when the agent asked; refuse it, and let the agent send again.`
  return { message, nextAction: 'send_again' }
}

const noApproval = (): Refusal => new Refusal('not_found', 'No message with this id waits for an approval.')

function heldOf(trace: Trace): HeldTrace {
  if (trace.approval === undefined) throw noApproval()
  return trace as HeldTrace
}

const endedWords: Readonly<Record<Exclude<ApprovalDecision, 'approved'>, string>> = {
  refused: 'A person refused this message, and it was not sent; ask the user what to change.',
  expired:
    'The approval was not given within 30 minutes, and the message was not sent; send it again, with another idempotency_key if it had one, to ask again.',
  withdrawn:
    'The message was withdrawn before it was approved, and was not sent; send it again, with another idempotency_key if it had one, to ask again.',
}

function decidedWords(decision: HeldTrace['approval']['decision']): string {
  if (!decision) return 'The message does not wait for an approval any more.'
  const { as, at, email } = decision
  const who = email === undefined ? '' : ` by ${email}`
  return `The message was ${as === 'expired' ? 'canceled, as its time was over' : as}${who} at ${new Date(at).toISOString()}; that is final.`
}

const otherMessage = (): Refusal =>
  new Refusal('conflict', 'This is not the message that was shown; open the page again and look at it.', { nextAction: 'read_and_retry' })

const otherRequest = (): Refusal =>
  new Refusal(
    'conflict',
    'The arguments are not those of the message that waits for approval; call without requestState to ask for these.',
    {
      nextAction: 'send_again',
    },
  )
