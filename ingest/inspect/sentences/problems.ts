/** Reasons why a mail could not be checked at all. */
import { catalogIn } from '#config/catalogs/catalog-in.ts'

export const problemCodes = ['header_octets', 'header_lines', 'slow', 'unreadable', 'closing'] as const
export type ProblemCode = (typeof problemCodes)[number]

/** Returns the sentence of a problem in English. */
export const problemText = (code: ProblemCode): string => catalogIn('checks', 'en').problems[code]

/** Returns the code of a sentence in English; undefined if it is from another release. */
export const problemCode = (sentence: string): ProblemCode | undefined => problemCodes.find((code) => problemText(code) === sentence)
