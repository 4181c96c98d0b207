/** The words around a form that are ours; the texts of the form itself are its owner's. */
import type { Field, Operator } from '#core/forms/definition/definition.ts'

type Say = (text: string) => string

/** Why a form was not taken, besides what is wrong with answers. */
export type Notice = 'expired' | 'changed' | 'large' | 'rate' | 'quota' | 'origin' | 'captcha' | 'files' | 'upload' | 'other'

export interface FormWords {
  /** The language of these words. */
  readonly lang: string
  readonly skip: string
  readonly optional: string
  readonly needed: string
  readonly allNeeded: string
  readonly onlyNeeded: string
  readonly steps: string
  readonly step: (number: number) => string
  readonly choose: string
  readonly other: string
  readonly otherText: (label: string) => string
  readonly upTo: (count: number) => string
  readonly choices: (min: number | undefined, max: number | undefined) => string | undefined
  readonly points: (value: number, max: number) => string
  readonly files: (types: string, size: string) => string
  readonly fileAgain: string
  readonly noFiles: string
  readonly noScript: string
  readonly trap: string
  readonly by: string
  readonly privacy: string
  readonly report: string
  readonly errorTitle: (count: number) => string
  readonly errorPrefix: string
  readonly errorKept: string
  readonly closedTitle: string
  /** On a page without a form. */
  readonly refused: Readonly<Record<'nothing' | 'nothingHere' | 'title', string>>
  /** What only scripts say. */
  readonly live: LiveWords
  readonly languages: string
  readonly retry: Readonly<Record<Notice, string>>
  readonly thanks: Readonly<Record<'reference' | 'received' | 'replyTo' | 'filesPending' | 'noMail' | 'again' | 'goOn' | 'print', string>>
  readonly logic: {
    readonly onlyIf: Say
    /** Where the same condition shows it and asks for an answer. */
    readonly onlyIfThenNeeded: Say
    readonly notIf: Say
    readonly neededIf: Say
    readonly notNeededIf: Say
    readonly skipTo: (condition: string, page: number) => string
    readonly skipToEnd: Say
    readonly not: Say
    readonly quoted: Say
    readonly and: string
    readonly or: string
  }
  readonly operators: Readonly<Record<Operator, (field: string, value: string) => string>>
  /** What is wrong with an answer, by its code; what has no sentence here is said as it came. */
  readonly problems: Readonly<Record<string, (field: Field, label: string) => string>>
}

interface LiveWords {
  readonly next: string
  readonly back: string
  readonly stepOf: (at: string, of: string) => string
  readonly oneMore: Say
  readonly counted: (used: string, max: string) => string
  readonly sending: string
  readonly keepOpen: string
  readonly sentShare: (share: string, size: string) => string
  readonly stop: string
  /** Takes a file out again. */
  readonly remove: string
  readonly stopped: string
  readonly notSent: string
  readonly close: string
}
