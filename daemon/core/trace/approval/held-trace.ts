/** A message that waits until a person has approved it, and what it is after the decision. Pure. */
import { hash } from 'node:crypto'
import { advance } from '../states.ts'
import type { TraceApproval } from './trace-approval.ts'
import type { Trace } from '../trace.ts'

/** How long a message waits for its approval. */
export const approvalMs = 30 * 60_000

/** All that a person sees and approves: every octet, the envelope, the way, and the time. */
export const digestOf = ({ mailFrom, recipients, content, prefix, destinationId, sendAt }: Trace): string =>
  hash(
    'sha256',
    JSON.stringify([mailFrom, recipients.map(({ address }) => address), content.sha256, prefix, destinationId, sendAt ?? null]),
  )

/** The message as it waits for a person: its place in the queue is that of the end of its time, and no attempt takes it from there. */
export function heldForApproval(queued: Trace, orderDigest: string | undefined, nowMs: number): Trace {
  const recipients = queued.recipients.map((one) => (one.status === 'queued' ? { ...one, status: 'pending' as const } : one))
  const expiresAt = nowMs + approvalMs
  const held: Trace = { ...queued, status: 'pending', recipients, nextAttemptAt: expiresAt }
  return { ...held, approval: { digest: digestOf(held), ...(orderDigest !== undefined && { orderDigest }), expiresAt } }
}

export type HeldTrace = Trace & { readonly approval: TraceApproval }

/** Whether the message waits for a person. */
export const waitsForApproval = <T extends Pick<Trace, 'status' | 'approval'>>(trace: T): trace is T & HeldTrace =>
  trace.status === 'pending' && trace.approval !== undefined && trace.approval.decision === undefined

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
