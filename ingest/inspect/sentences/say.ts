/** What a check says: the code of a sentence with its values, and the sentence in English. */
import type { Said } from '#core/inspect/report.ts'
import { english, englishEvidence } from './english.ts'

/** The values that a sentence has in braces. */
type ValuesOf<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}` ? Name | ValuesOf<Rest> : never
type Given<Sentence extends string> = [ValuesOf<Sentence>] extends [never]
  ? []
  : [values: Readonly<Record<ValuesOf<Sentence>, string | number>>]

type English = typeof english
type EvidenceEnglish = typeof englishEvidence

/** A sentence of a report. Its values may be untrusted text. */
export const say = <Code extends keyof English>(code: Code, ...[values]: Given<English[Code]>): Said => said(code, values)

/** The name of what was looked at, or what was there. */
export const term = <Code extends keyof EvidenceEnglish>(code: Code, ...[values]: Given<EvidenceEnglish[Code]>): Said =>
  said(`evidence_${code}`, values)

const said = (code: string, values: Readonly<Record<string, string | number>> = {}): Said => ({
  code,
  values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])),
})

/** All sentences by code, those of evidence too. */
export const sentences: Readonly<Record<string, string>> = {
  ...english,
  ...Object.fromEntries(Object.entries(englishEvidence).map(([code, text]) => [`evidence_${code}`, text])),
}

/** A value that is not there stays in its braces. */
export const inEnglish = ({ code, values }: Said): string =>
  (sentences[code] ?? code).replaceAll(/\{(\w+)\}/g, (whole, key: string) => values[key] ?? whole)
