/** Table of trace states. Spec "Trace status"; the architecture defines `failed`, `captured` and `canceled`. */
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

/** Returns the next state, or the same state if the event does not apply. Late reports therefore never change a terminal status. */
export const advance = (status: TraceStatus, event: TraceEvent): TraceStatus => table[status]?.[event] ?? status

/** From best to worst. Undecided states rank worse than success. */
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

/** Returns the status of the worst recipient. `queued` and `pending` of any recipient take precedence. */
export function worstStatus(statuses: readonly TraceStatus[]): TraceStatus {
  if (statuses.includes('queued')) return 'queued'
  if (statuses.includes('pending')) return 'pending'
  return statuses.reduce((worst, status) => (badness.indexOf(status) > badness.indexOf(worst) ? status : worst), statuses[0] ?? 'pending')
}
