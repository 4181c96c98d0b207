/** The taking of feedback, and what waits to be tried again. */
import { Feedback, type FeedbackOptions } from '#core/feedback/feedback.ts'
import { PendingReports } from '#core/feedback/pending-reports.ts'

export interface FeedbackCore {
  readonly feedback: Feedback
  readonly pending: PendingReports
}

export function feedbackCore(parts: Omit<FeedbackOptions, 'onPending'> & { readonly onError: (error: unknown) => void }): FeedbackCore {
  const feedback = new Feedback({ ...parts, onPending: () => pending.wake() })
  const pending = new PendingReports({ ...parts, feedback })
  return { feedback, pending }
}
