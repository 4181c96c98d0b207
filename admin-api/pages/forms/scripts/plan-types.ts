/** What the script of a form works with, as the page hands it over. Browsers and the service share these types. */
import type { Definition, Schema } from '#core/forms/definition/definition.ts'

/** A step that has something to show. */
export interface PlannedStep {
  /** Number of its page in the definition. */
  readonly page: number
  readonly title: string
  /** The button that leads here. */
  readonly next: string
  /** The button that leads from here to the step before. */
  readonly back: string
}

export interface FormPlan {
  readonly id: string
  readonly version: number
  /** Without the texts that are in the page. */
  readonly schema: Schema
  readonly logic: Definition['logic']
  readonly steps: readonly PlannedStep[]
  readonly labels: Readonly<Record<string, string>>
  /** Sentences by key of the field and code of the problem; others are the label and what the check says. */
  readonly sentences: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Only they may send messages to the form in a frame; empty is any. */
  readonly origins: readonly string[]
  /** The page shows the form as it is at the beginning, so that what was typed before may come back. */
  readonly isFresh: boolean
  readonly isMostlyNeeded: boolean
  readonly words: PlanWords
}

/** `{at}` and the like stand for what only browsers know. */
export interface PlanWords {
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
  /** By number of problems; the last one is for more, with `{count}`. */
  readonly errorTitles: readonly string[]
  readonly close: string
}

/** What the service returns for a form that a script sent. */
export type SentForm =
  | { readonly id: string; readonly thanks: string }
  | {
      readonly error: {
        readonly code: string
        readonly message: string
        readonly details?: {
          readonly fields?: Readonly<Record<string, readonly [SentProblem]>>
          readonly fill_time_token?: string
          /** Of the form that the token is for, where it is another one. */
          readonly version?: number
        }
      }
    }

interface SentProblem {
  readonly code: string
  readonly message: string
}

/** A form for a page of another site, which brings it into its own document; paths are of the service. */
export interface Fragment {
  readonly html: string
  readonly title: string
  readonly styles: readonly string[]
  readonly script: string
  /** It can be shown in a frame only. */
  readonly isFramed: boolean
}
