/** Short summary of a message with several recipients. Its status is the worst recipient's; others may have received it. Pure. */
import { traceStatuses, type TraceStatus } from '../states.ts'
import { bounceOf, type RecipientReported, type Trace } from '../trace.ts'

type Fates = Pick<Trace, 'recipients'>

/** From the worst to the mildest. */
const classes = ['hard', 'block', 'soft'] as const

/** Returns the worst bounce of all recipients, or null. */
export const worstBounce = ({ recipients }: Fates): RecipientReported['bounce'] =>
  classes.find((one) => recipients.some((recipient) => bounceOf(recipient) === one)) ?? null

/** Returns the number of recipients by status, without empty statuses. */
export function countsOf({ recipients }: Fates): Partial<Record<TraceStatus, number>> {
  const counts: Partial<Record<TraceStatus, number>> = {}
  for (const { status } of recipients) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/**
 * Returns a summary that begins with successful recipients: `2 delivered, 1 sent, 1 failed (hard bounce)`. Omits the number for one
 * recipient.
 */
export function summaryOf({ recipients }: Fates): string {
  const groups = Map.groupBy(
    recipients,
    ({ status, ...one }) => `${String.fromCodePoint(97 + order.indexOf(status))}${bounceOf(one) ?? ''}`,
  )
  const parts = [...groups].toSorted(([a], [b]) => a.localeCompare(b)).map(([, group]) => ({ first: group[0], size: group.length }))
  return parts.flatMap(({ first, size }) => (first ? [wordsOf(first, recipients.length === 1 ? '' : `${size} `)] : [])).join(', ')
}

/** Statuses in display order. */
const firstOnes: readonly TraceStatus[] = ['delivered', 'sent']
const order: readonly TraceStatus[] = [...firstOnes, ...traceStatuses.filter((status) => !firstOnes.includes(status))]

function wordsOf(recipient: Trace['recipients'][number], count: string): string {
  const bounce = bounceOf(recipient)
  const why = bounce === null ? '' : ` (${bounce === 'block' ? 'blocked' : `${bounce} bounce`})`
  return `${count}${recipient.status.replaceAll('_', ' ')}${why}`
}
