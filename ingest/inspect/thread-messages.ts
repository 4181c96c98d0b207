/** What the thread that scores and the main thread say to each other. */
import type { InspectReport, InspectSession } from '#core/inspect/report.ts'
import type { Question, QuestionAnswer } from '../thread-questions.ts'
import type { DnsList } from './input.ts'

/** To the thread: first the mail, then the answers. */
export type ToThread =
  | {
      readonly kind: 'score'
      readonly raw: Uint8Array
      readonly session: InspectSession
      readonly lists: readonly DnsList[]
      readonly now: number
    }
  | QuestionAnswer

/** From the thread: questions to DNS, and at last the report. */
export type FromThread = Question | { readonly kind: 'report'; readonly report: InspectReport }
