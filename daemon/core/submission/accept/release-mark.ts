/** Links a released message and its capture in the write that accepts the message. */
import type { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import { Refusal } from '../../refusals.ts'
import type { Decision } from '../../routing/match/outcome.ts'
import { traces, type Trace } from '../../trace/trace.ts'
import { actorOf, type Audit } from '../../writes/audit.ts'
import type { Submission } from '../submission.ts'

/** Refusal for a release that would be captured again instead of relayed. */
export const notRelayed = ({ reason }: Decision, { isProof }: Pick<Submission, 'isProof'>): Refusal =>
  new Refusal('conflict', `The ${isProof ? 'test was not sent' : 'message was not released'}. ${reason}`, { nextAction: 'fix_destination' })

export const releasedFrom = (released: Stored<Trace> | undefined): Partial<Pick<Trace, 'releasedFrom'>> =>
  released?.record.capture ? { releasedFrom: { traceId: released.record.id, captureId: released.record.capture.id } } : {}

/** Marks the capture as released, so that a second release finds the first. The write fails if another release was committed first. */
export function stageRelease(change: Change, audit: Audit, { principal }: Submission, from: Stored<Trace>, trace: Trace): void {
  const { record } = from
  if (!record.capture) throw new Error(`trace ${record.id} was not captured`)
  const { organizationId, credentialId } = principal
  const destinationId = trace.destinationId ?? ''
  const released = { traceId: trace.id, destinationId, at: trace.createdAt, by: credentialId }
  change.rewrite(traces, organizationId, from, { ...record, capture: { ...record.capture, released } })
  audit.record(change, {
    organizationId,
    actor: actorOf(principal),
    act: 'capture.released',
    target: record.capture.id,
    projectId: record.projectId,
    details: { trace_id: trace.id, destination_id: destinationId },
  })
}
