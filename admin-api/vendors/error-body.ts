/** Errors of dialects: the service's own fields, and our error object for programs that know both. */
import type { Refusal, RefusalCode } from '#core/refusals.ts'
import { errorEnvelope } from '../wire/fields/error.ts'
import { answer, type Answer } from '../operation/answer.ts'

/** The service's code for each of our codes; `else` is the default. */
export type VendorCodes<W> = Readonly<Partial<Record<RefusalCode, W>> & { readonly else: W }>

export const vendorCode = <W>(codes: VendorCodes<W>, { code }: Pick<Refusal, 'code'>): W => codes[code] ?? codes.else

/** Returns an error with the service's own fields first. */
export const errorAnswer = (own: object, refusal: Refusal, status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  answer({ ...own, ...errorEnvelope.encode(refusal) }, { status, headers: { ...retryHeaders(refusal), ...headers } })

/** `Retry-After`, RFC 9110 §10.2.3. */
export const retryHeaders = ({ retryAfterSeconds }: Refusal): Readonly<Record<string, string>> =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }
