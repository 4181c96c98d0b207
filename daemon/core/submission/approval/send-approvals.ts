/** Messages of agents that wait for a person: shown as they will be sent, then approved, refused or withdrawn once. */
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

/** Interval of the checks for a decision, and their maximum number in a repeated call. */
const [lookMs, maxLooks] = [1000, 45]
/** Maximum number of concurrent waiting calls. Further calls return immediately with the pending approval. */
const maxWaits = 200

export interface SendApprovalsOptions extends Core {
  readonly readings: Pick<Readings, 'read' | 'attachment'>
  /** Address of the pages for people, without a trailing slash. */
  readonly origin: string
  /** Called when the message is queued and an attempt may begin. */
  readonly queued: (entry: QueueEntry) => void
  readonly followDecision: FollowDecision
}

/** The signed-in person who decides. */
export interface Approver {
  readonly userId: string
  readonly email: string
}

/** A pending approval. */
export interface AwaitedApproval {
  /** The page with the decision. */
  readonly url: string
  readonly digest: string
  readonly expiresAt: number
}

/** `approval` is set while the message waits. */
export interface OutcomeSoFar extends Pick<Acceptance, 'traceId' | 'outcome' | 'status'> {
  readonly approval?: AwaitedApproval
}

/** A message as shown to the approver. */
export interface ShownApproval {
  readonly trace: HeldTrace
  readonly read: ReadResult
  readonly projectName: string
  /** The destination with its current address; undefined if it was deleted. */
  readonly destination: string | undefined
  /** Fallback destinations at the time of the request, including deleted destinations. */
  readonly fallbacks: readonly string[]
  /** Why a waiting message cannot be approved now, as a sentence. */
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
   * Returns the pending approval, or the outcome of an approved message. `orderDigest` is the digest of a repeated request, which must come
   * from the same credential. Throws `conflict` with the next step if the message will not be sent or the request differs.
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
    if (ended) throw new Refusal('conflict', endedTexts[ended], { nextAction: ended === 'refused' ? 'ask_user' : 'send_again' })
    const url = this.#options.origin + approvalPath(principal.organizationId, traceId)
    const awaited = { url, digest: approval.digest, expiresAt: approval.expiresAt }
    return { traceId, outcome: 'relayed', status: 'awaiting_approval', approval: awaited }
  }

  /** Repeats a call after the user has seen the page: waits up to 45 seconds for the decision. With `isDeclined`, withdraws the message. */
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

  /**
   * Returns everything that an approval covers. Throws `not_found` for unknown ids, ids of other organizations, and messages without
   * approval.
   */
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

  /** Returns the message as it will be sent, in pieces. */
  async raw(principal: Principal, traceId: string): Promise<RawMessage> {
    const { content } = heldOf((await must(this.#options.database, traces, principal, traceId)).record)
    return { size: content.size, pieces: readContent(this.#options.database, principal.organizationId, content) }
  }

  /** Returns the decoded bytes of one attachment, by its position in the message. */
  async attachment(principal: Principal, traceId: string, index: number): Promise<Uint8Array> {
    const { database, readings } = this.#options
    const trace = heldOf((await must(database, traces, principal, traceId)).record)
    const bytes = await readings.attachment(principal.organizationId, trace, index)
    if (!bytes) throw new Refusal('not_found', 'The message has no such attachment.')
    return bytes
  }

  /**
   * Approves the message once. When this resolves, the message is queued. Throws `conflict` if the digest differs, a decision exists, or
   * the destination cannot deliver the message. Throws `insufficient_scope` if the caller may not send.
   */
  approve(principal: Principal, traceId: string, digest: string, by: Approver): Promise<Trace> {
    return this.#decide(principal, traceId, { as: 'approved', digest, by })
  }

  /** Refuses the message, which is then never sent. */
  refuse(principal: Principal, traceId: string, digest: string, by: Approver): Promise<Trace> {
    return this.#decide(principal, traceId, { as: 'refused', digest, by })
  }

  /** Withdraws the message if it still waits. */
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
      if (!waitsForApproval(stored.record)) throw new Refusal('conflict', decisionText(made), { nextAction: 'read_trace' })
      if (this.#isExpired(held)) throw new Refusal('conflict', endedTexts.expired, { nextAction: 'read_trace' })
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

/** Returns why the message cannot be sent as requested, or undefined. */
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

const endedTexts: Readonly<Record<Exclude<ApprovalDecision, 'approved'>, string>> = {
  refused: 'A person refused this message, and it was not sent; ask the user what to change.',
  expired:
    'The approval was not given within 30 minutes, and the message was not sent; send it again, with another idempotency_key if it had one, to ask again.',
  withdrawn:
    'The message was withdrawn and was not sent. To request approval again, send it again, with another idempotency_key if it had one.',
}

function decisionText(decision: HeldTrace['approval']['decision']): string {
  if (!decision) return 'The message no longer waits for an approval.'
  const { as, at, email } = decision
  const who = email === undefined ? '' : ` by ${email}`
  return `The message was ${as === 'expired' ? 'canceled, as its time was over' : as}${who} at ${new Date(at).toISOString()}; that is final.`
}

const otherMessage = (): Refusal =>
  new Refusal('conflict', 'The digest does not match the message; open the page again and review the message.', {
    nextAction: 'read_and_retry',
  })

const otherRequest = (): Refusal =>
  new Refusal(
    'conflict',
    'The arguments differ from the message that waits for approval; call without requestState to request approval of the new arguments.',
    {
      nextAction: 'send_again',
    },
  )
