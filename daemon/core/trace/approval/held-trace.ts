/** A message that waits for approval, and its state after the decision. Pure. */
import { hash } from 'node:crypto'
import { advance } from '../states.ts'
import { isAwaited, type ApprovedFallback, type TraceApproval } from './trace-approval.ts'
import type { Trace } from '../trace.ts'

/** Time limit of an approval. */
export const approvalMs = 30 * 60_000

/** Server or provider of the destination and of each fallback. */
interface Ways {
  readonly through?: string | undefined
  readonly fallbacks?: readonly ApprovedFallback[] | undefined
}

/** Digest of everything that a person approves: content, envelope, destination and fallbacks with their servers, and time. */
export function digestOf(
  { mailFrom, recipients, content, prefix, destinationId, sendAt }: Trace,
  { through, fallbacks = [] }: Ways,
): string {
  const whole = [mailFrom, recipients.map(({ address }) => address), content.sha256, prefix, destinationId, sendAt ?? null]
  const ways = [...(through === undefined ? [] : [through]), ...fallbacks.flatMap((one) => [one.id, one.through])]
  return hash('sha256', JSON.stringify([...whole, ...ways]))
}

/** Approved properties that are not in the message. */
export interface HeldOrder {
  /** Digest of the request. */
  readonly orderDigest: string | undefined
  /** Current server or provider of the destination. */
  readonly through: string | undefined
  /** Current failover destinations. */
  readonly fallbacks: readonly ApprovedFallback[]
}

/** Returns the message waiting for approval. Its queue entry is due when the approval expires, and no attempt starts from it. */
export function heldForApproval(queued: Trace, { orderDigest, through, fallbacks }: HeldOrder, nowMs: number): Trace {
  const recipients = queued.recipients.map((one) => (one.status === 'queued' ? { ...one, status: 'pending' as const } : one))
  const expiresAt = nowMs + approvalMs
  const held: Trace = { ...queued, status: 'pending', recipients, nextAttemptAt: expiresAt }
  const order = { ...(orderDigest !== undefined && { orderDigest }), ...(through !== undefined && { through }), fallbacks }
  return { ...held, approval: { digest: digestOf(held, order), ...order, expiresAt } }
}

export type HeldTrace = Trace & { readonly approval: TraceApproval }

/** Returns true if the message waits for approval. */
export const waitsForApproval = <T extends Pick<Trace, 'status' | 'approval'>>(trace: T): trace is T & HeldTrace => isAwaited(trace)

/** Returns the message after the decision: queued if approved, otherwise canceled. */
export function afterDecision(held: HeldTrace, decision: NonNullable<TraceApproval['decision']>): Trace {
  const isApproved = decision.as === 'approved'
  const event = isApproved ? 'routed' : 'canceled'
  const recipients = held.recipients.map((one) => ({ ...one, status: advance(one.status, event) }))
  return {
    ...held,
    ...{ status: advance(held.status, event), recipients, updatedAt: decision.at },
    nextAttemptAt: isApproved ? Math.max(decision.at, held.sendAt ?? decision.at) : null,
    approval: { ...held.approval, decision },
  }
}
