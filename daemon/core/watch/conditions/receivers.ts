/** Conditions of receivers of webhooks: event endpoints, inbound routes and forms. Pure. */
import type { Observed } from '../../findings/finding.ts'
import type { FindingKind } from '../../findings/kinds.ts'
import { projectNames } from '../../insights/count.ts'
import { observedAs, type Condition } from '../condition.ts'
import { bySubject, type Step } from '../reading/steps.ts'

/** A receiver whose deliveries are counted under its id. */
export interface Receiver {
  readonly kind: Extract<FindingKind, 'webhook.failing' | 'inbound.failing' | 'form.notification_failing'>
  readonly id: string
  readonly name: string
  readonly projectId: string
}

/** Failed attempts since the last success. */
interface Failures {
  readonly count: number
  /** Start of the step of the first one. */
  readonly since: number
}

const minFailures = 3
const minMs = 15 * 60_000

export function receiverConditions(receivers: readonly Receiver[], steps: readonly Step[], now: number): readonly Condition[] {
  const ofSubjects = bySubject(steps)
  return receivers.flatMap((receiver) => receiverCondition(receiver, ofSubjects.get(receiver.id) ?? [], now))
}

/** Fails from the third failed attempt and a quarter of an hour on; ends with a success. */
function receiverCondition({ kind, id, name, projectId }: Receiver, steps: readonly Step[], now: number): Condition[] {
  const subject = kind === 'form.notification_failing' ? `${id}/webhook` : id
  const seen = failuresOf(steps, id)
  if (seen === 'succeeded') return []
  if (seen === undefined || seen.count < minFailures) return [{ kind, subject }]
  const lookAt = seen.since + minMs
  if (now < lookAt) return [{ kind, subject }, { lookAt }]
  return [
    observedAs(
      undefined,
      kind,
      subject,
      { name, count: seen.count, sinceAt: seen.since, by: 'webhook', counted: 'no', undelivered: 0, status: 'none' },
      projectId,
    ),
  ]
}

/** Returns `succeeded` if no attempt failed after the step of the last success; undefined without attempts. */
export function failuresOf(steps: readonly Step[], id: string): Failures | 'succeeded' | undefined {
  let seen: Failures | 'succeeded' | undefined
  for (const { from, subject, counts } of steps) {
    if (subject !== id) continue
    const failed = counts.get(projectNames.webhookFailed) ?? 0
    if ((counts.get(projectNames.webhookSucceeded) ?? 0) > 0) seen = 'succeeded'
    else if (failed > 0) seen = typeof seen === 'object' ? { ...seen, count: seen.count + failed } : { count: failed, since: from }
  }
  return seen
}

/** Deliveries of a receiver that fails. */
export interface Undelivered {
  /** Deliveries that wait, in a bounded number. */
  readonly waiting: number
  /** Status of the newest failed delivery's last answer; null without an answer. */
  readonly status: number | null
}

/** Adds the undelivered events and the last answer to a finding of a receiver. `parked`: deliveries that were given up. */
export const withUndelivered = (seen: Observed, { waiting, status }: Undelivered, parked: number): Observed => ({
  ...seen,
  params: { ...seen.params, counted: 'yes', undelivered: waiting + parked, status: status === null ? 'none' : String(status) },
})
