/** What the thread that scores and the main thread say to each other. */
import type { InspectReport, InspectSession } from '#core/inspect/report.ts'
import type { DnsList, QuestionType } from './input.ts'

/** To the thread: first the mail, then the lists and the answers. `code` is that of an error. */
export type ToThread =
  | {
      readonly kind: 'score'
      readonly raw: Uint8Array
      readonly session: InspectSession
      readonly now: number
      /** Whether it may ask for policies. */
      readonly hasPolicies: boolean
    }
  | { readonly kind: 'lists'; readonly lists: readonly DnsList[] }
  | { readonly kind: 'answer'; readonly number: number; readonly records: readonly unknown[] }
  | { readonly kind: 'fault'; readonly number: number; readonly code: string }

/** From the thread: questions to DNS and for policies, and at last the report. */
export type FromThread =
  | { readonly kind: 'question'; readonly number: number; readonly name: string; readonly type: QuestionType }
  | { readonly kind: 'policy'; readonly number: number; readonly domain: string }
  | { readonly kind: 'report'; readonly report: InspectReport }
