/** What every service's errors have besides their own fields: ours, which programs that know both can read. */
import type { Refusal, RefusalCode } from '#core/refusals.ts'
import { errorEnvelope } from '../wire/fields/error.ts'
import { answer, type Answer } from '../operation/answer.ts'

/** A word of the service for each of our codes; `else` for all others. */
export type Words<W> = Readonly<Partial<Record<RefusalCode, W>> & { readonly else: W }>

export const wordFor = <W>(words: Words<W>, { code }: Pick<Refusal, 'code'>): W => words[code] ?? words.else

/** An error with the service's own fields first. */
export const errorAnswer = (own: object, refusal: Refusal, status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  answer({ ...own, ...errorEnvelope.encode(refusal) }, { status, headers: { ...retryHeaders(refusal), ...headers } })

/** RFC 9110 §10.2.3. */
export const retryHeaders = ({ retryAfterSeconds }: Refusal): Readonly<Record<string, string>> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }
