/** Trace states as one table. Spec "Trace status"; `failed`, `captured` and `canceled` as the architecture settles them. */
export const traceStatuses = [
  'pending',
  'queued',
  'sent',
  'delivered',
  'failed',
  'bounced',
  'complained',
  'suppressed',
  'captured',
  'canceled',
  'validation_failed',
] as const
export type TraceStatus = (typeof traceStatuses)[number]

export type TraceEvent =
  | 'routed'
  | 'captured'
  | 'invalid'
  | 'suppressed'
  | 'accepted_by_provider'
  | 'gave_up'
  | 'retried'
  | 'canceled'
  | 'delivery_reported'
  | 'bounce_reported'
  | 'complaint_reported'

/** Terminal states have no row. */
const table: Partial<Record<TraceStatus, Partial<Record<TraceEvent, TraceStatus>>>> = {
  pending: { routed: 'queued', captured: 'captured', invalid: 'validation_failed', suppressed: 'suppressed', canceled: 'canceled' },
  queued: { accepted_by_provider: 'sent', gave_up: 'failed', captured: 'captured', canceled: 'canceled', suppressed: 'suppressed' },
  sent: { delivery_reported: 'delivered', bounce_reported: 'bounced', complaint_reported: 'complained' },
  failed: { retried: 'queued' },
}

/** The next state, or the same one when the event does not apply (late annotations never change a status). */
export const advance = (status: TraceStatus, event: TraceEvent): TraceStatus => table[status]?.[event] ?? status

/** From best to worst; what is still undecided counts as worse than what is done well. */
const badness: readonly TraceStatus[] = [
  'delivered',
  'sent',
  'captured',
  'canceled',
  'pending',
  'queued',
  'suppressed',
  'complained',
  'bounced',
  'failed',
  'validation_failed',
]

/** The status of a message is that of its worst recipient; while any is still queued, or waits for an approval, it is that. */
export function worstStatus(statuses: readonly TraceStatus[]): TraceStatus {
  if (statuses.includes('queued')) return 'queued'
  if (statuses.includes('pending')) return 'pending'
  return statuses.reduce((worst, status) => (badness.indexOf(status) > badness.indexOf(worst) ? status : worst), statuses[0] ?? 'pending')
}
