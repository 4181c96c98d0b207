/** Why a mail could not be checked at all: by code, in English. */
import { withCommas } from '#config/words/formats.ts'
import { maxHeadLines } from '../../authentication/verifiable-head.ts'

export const problems = {
  header_octets: 'The header of the mail has more than 1 MiB; no receiver takes such mail.',
  header_lines: `The header of the mail has more than ${withCommas(maxHeadLines)} lines; no receiver takes such mail.`,
  slow: 'The mail took too long to be checked.',
  unreadable: 'The mail could not be checked.',
  closing: 'The service is shutting down.',
} as const

export const problemCodes = [
  'header_octets',
  'header_lines',
  'slow',
  'unreadable',
  'closing',
] as const satisfies readonly (keyof typeof problems)[]
export type ProblemCode = (typeof problemCodes)[number]

/** The code of a sentence as tests keep it; undefined for one of another release. */
export const problemCode = (sentence: string): ProblemCode | undefined => problemCodes.find((code) => problems[code] === sentence)
