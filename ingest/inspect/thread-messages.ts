/** Messages between the scoring thread and the main thread. */
import type { InspectReport, InspectSession } from '#core/inspect/report.ts'
import type { Question, QuestionAnswer } from '../dns/thread-questions.ts'
import type { DnsList } from '../dns/resolve.ts'

/** To the thread: first the mail, then the lists and the answers. */
export type ToThread =
  | {
      readonly kind: 'score'
      readonly raw: Uint8Array
      readonly session: InspectSession
      readonly now: number
      /** True if the thread may request MTA-STS policies. */
      readonly hasPolicies: boolean
    }
  | { readonly kind: 'lists'; readonly lists: readonly DnsList[] }
  | QuestionAnswer

/** Requests the MTA-STS policy of a domain. */
export interface PolicyQuestion {
  readonly kind: 'policy'
  readonly number: number
  readonly domain: string
}

/** From the thread: its start, DNS queries and policy requests, and finally the report. */
export type FromThread =
  { readonly kind: 'begun' } | Question | PolicyQuestion | { readonly kind: 'report'; readonly report: InspectReport }
