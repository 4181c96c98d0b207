/** Data that the page passes to the script of a form. Browsers and the service share these types. */
import type { Definition, Schema } from '#core/forms/definition/definition.ts'

/** A step with content. */
export interface PlannedStep {
  /** Number of its page in the definition. */
  readonly page: number
  readonly title: string
  /** Label of the button that leads to this step. */
  readonly next: string
  /** Label of the button that leads to the previous step. */
  readonly back: string
}

export interface FormPlan {
  readonly id: string
  readonly version: number
  /** Without the texts that the page already contains. */
  readonly schema: Schema
  readonly logic: Definition['logic']
  readonly steps: readonly PlannedStep[]
  readonly labels: Readonly<Record<string, string>>
  /** Error texts by field key and code. Without one, the text is the label and the message of the check. */
  readonly sentences: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Origins that may send messages to the framed form; empty allows all. */
  readonly origins: readonly string[]
  /** The page shows the initial form, so saved answers may be restored. */
  readonly isFresh: boolean
  readonly isMostlyNeeded: boolean
  readonly texts: PlanTexts
}

/** Texts of the script. `{at}` and similar names are replaced in the browser. */
export interface PlanTexts {
  readonly locale: string
  readonly optional: string
  readonly needed: string
  readonly stepOf: string
  readonly oneMore: string
  readonly counted: string
  readonly sending: string
  readonly keepOpen: string
  readonly sentShare: string
  readonly stop: string
  readonly remove: string
  readonly stopped: string
  readonly notSent: string
  readonly errorPrefix: string
  readonly errorKept: string
  /** Titles by number of problems; the last one is for more, with `{count}`. */
  readonly errorTitles: readonly string[]
  readonly close: string
}

/** Response of the service to a form that the script sent. */
export type SentForm =
  | { readonly id: string; readonly thanks: string }
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        readonly details?: {
          readonly fields?: Readonly<Record<string, readonly [SentProblem]>>
          readonly fill_time_token?: string
          /** Version of the form that the token belongs to, if it is another one. */
          readonly version?: number
        }
      }
    }

interface SentProblem {
  readonly code: string
  readonly message: string
}

/** A form for the document of another site; paths belong to the service. */
export interface Fragment {
  readonly html: string
  readonly title: string
  readonly styles: readonly string[]
  readonly script: string
  /** It requires a frame. */
  readonly isFramed: boolean
}
