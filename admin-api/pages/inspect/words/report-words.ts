/** What a language has to say on the page of a report. */
import type { Language } from '../../layout/language.ts'
import type { CheckGroup, CheckStatus, Grade, RuleStatus } from '#core/inspect/report.ts'

/** A page before there is a report. */
interface Stage {
  readonly title: string
  readonly text: string
}

export interface ReportWords {
  readonly lang: Language
  /** Around the time. */
  readonly waiting: Stage & { readonly until: readonly [before: string, after: string] }
  readonly expired: { readonly title: string; readonly text: readonly [before: string, after: string] }
  readonly failed: Stage
  readonly scoring: Stage
  readonly nothing: Stage
  readonly score: (score: number, grade: string) => string
  readonly gradeOf: (grade: string) => string
  readonly points: (score: number, grade: string) => string
  readonly verdicts: Readonly<Record<Grade, string>>
  readonly partialVerdict: string
  readonly noSubject: string
  readonly noSender: string
  readonly nameless: string
  /** Around the sender, the time and the name of the server. */
  readonly received: readonly [from: string, at: string, by: string]
  readonly counted: Readonly<Record<CheckStatus, string>>
  readonly signs: Readonly<Record<CheckStatus, string>>
  readonly later: (count: number) => string
  readonly partial: Stage
  readonly capped: (limit: number) => string
  readonly cap: (limit: number) => string
  readonly mend: string
  readonly nothingToMend: string
  readonly plus: (points: number) => string
  readonly doThis: string
  readonly all: (count: number) => string
  readonly doesNotCount: string
  readonly of: (points: number, max: number) => string
  readonly readOn: string
  readonly rules: string
  readonly rulesText: string
  readonly misses: (missed: number, all: number) => string
  readonly notKnown: (unknown: number, all: number) => string
  readonly allMet: (all: number) => string
  readonly rule: Readonly<Record<RuleStatus, string>>
  readonly bulk: string
  readonly notCheckable: string
  readonly advised: string
  readonly groups: Readonly<Record<CheckGroup, string>>
  /** Of checks, rules and caps by their ids, and of sentences by their codes; English has those of the report. */
  readonly checks: Known
  readonly ruleNames: Known
  readonly caps: Known
  readonly problems: Known
  readonly sentences: Known
}

type Known = Readonly<Record<string, string>>
