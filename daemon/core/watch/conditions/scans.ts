/** Condition of uploaded files that wait for a virus scan. Pure. */
import { observedAs, type Condition } from '../condition.ts'
import type { WaitingScans } from '../reading/scans.ts'

const waitMs = 600_000

export function scanConditions(waiting: WaitingScans | undefined, now: number): readonly Condition[] {
  if (!waiting) return []
  const lookAt = waiting.since + waitMs
  return now < lookAt ? [{ lookAt }] : [observedAs(undefined, 'scanner.unreachable', '', { count: waiting.count })]
}
