/** A message that waits until a person has approved it, and what it is after the decision. Pure. */
import { hash } from 'node:crypto'
import { advance } from '../states.ts'
import { isAwaited, type ApprovedFallback, type TraceApproval } from './trace-approval.ts'
import type { Trace } from '../trace.ts'

/** How long a message waits for its approval. */
export const approvalMs = 30 * 60_000

/** The server or provider behind the destination, and behind each of its fallbacks. */
interface Ways {
  readonly through?: string | undefined
  readonly fallbacks?: readonly ApprovedFallback[] | undefined
}

/** All that a person sees and approves: every octet, the envelope, the destination and its fallbacks with what is behind each, the time. */
export function digestOf(
  { mailFrom, recipients, content, prefix, destinationId, sendAt }: Trace,
  { through, fallbacks = [] }: Ways,
): string {
  const whole = [mailFrom, recipients.map(({ address }) => address), content.sha256, prefix, destinationId, sendAt ?? null]
  const ways = [...(through === undefined ? [] : [through]), ...fallbacks.flatMap((one) => [one.id, one.through])]
  return hash('sha256', JSON.stringify([...whole, ...ways]))
}

/** What a message is held for. */
export interface HeldOrder {
  /** Of the request that it was composed from. */
  readonly orderDigest: string | undefined
  /** Where the mail of its destination goes now. */
  readonly through: string | undefined
  /** Where a failover can move it now. */
  readonly fallbacks: readonly ApprovedFallback[]
}

/** The message as it waits for a person: its place in the queue is that of the end of its time, and no attempt takes it from there. */
export function heldForApproval(queued: Trace, { orderDigest, through, fallbacks }: HeldOrder, nowMs: number): Trace {
  const recipients = queued.recipients.map((one) => (one.status === 'queued' ? { ...one, status: 'pending' as const } : one))
  const expiresAt = nowMs + approvalMs
  const held: Trace = { ...queued, status: 'pending', recipients, nextAttemptAt: expiresAt }
  const order = { ...(orderDigest !== undefined && { orderDigest }), ...(through !== undefined && { through }), fallbacks }
  return { ...held, approval: { digest: digestOf(held, order), ...order, expiresAt } }
}

export type HeldTrace = Trace & { readonly approval: TraceApproval }

/** Whether the message waits for a person. */
export const waitsForApproval = <T extends Pick<Trace, 'status' | 'approval'>>(trace: T): trace is T & HeldTrace => isAwaited(trace)

/** The message after the decision: on its way when it was approved, and canceled otherwise. */
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
