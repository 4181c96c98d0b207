/** What the bodies of dialects are made of: checked for their type alone, as the fields of a message are checked in its own schema. */
import * as z from 'zod'
import { saysNothing } from './ignored-fields.ts'

/** Text, or nothing in any of the ways in which clients leave a field out. */
export const text = z.string().nullish()
export const flag = z.boolean().nullish()
/** Many messages of a request may have the same map, and each looks at all of it. */
const maxMapped = 1000
const isFew = (map: object): boolean => Object.keys(map).length <= maxMapped
const few = `at most ${String(maxMapped)} names`

export const mapOf = <V extends z.ZodType>(values: V) => z.record(z.string(), values).refine(isFew, few)
export const textMap = mapOf(z.string()).nullish()
export const anyMap = mapOf(z.unknown()).nullish()
/** Ids of templates are numbers in some clients' types. */
export const templateName = z.union([z.string().min(1), z.int()]).nullish()

export const person = z.looseObject({ email: z.string(), name: text })
/** A field that would change what the recipient gets, and has no counterpart here. Empty ones say the same as none. */
export const refused = (instead: string) => z.unknown().refine(saysNothing, `has no counterpart here; ${instead}`).optional()

/** Text without what the service itself would fill in, and which would be visible in a mail that is sent here. */
export const withoutMarkers = <S extends z.ZodType<string | null | undefined>>(schema: S, marker: RegExp, instead: string) =>
  schema.refine((given) => !given || !marker.test(given), `has a link that is filled in by that service alone; use ${instead}`)

/** A person as `POST /v1/messages` takes one. */
export const mailboxOf = ({ email, name }: { readonly email: string; readonly name?: string | null | undefined }) =>
  name ? { email, name: unquoted(name) } : { email }

/** A name without the pair of quotes that some clients write as in a header field (RFC 5322 §3.2.4). */
function unquoted(name: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)+)"$/s.exec(name.trim()) ?? []
  return inner === undefined ? name : inner.replaceAll(/\\(.)/gs, '$1')
}

/** Seconds since the epoch as the time of `send_at`. What is no time stays as it is, and is refused as such. */
export const timeOfSeconds = (seconds: number | null | undefined): string | undefined => {
  if (seconds === null || seconds === undefined || seconds === 0) return undefined
  const at = new Date(seconds * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString()
}

/** A time in any form that a browser reads, as RFC 3339. */
export const timeOfText = (given: string | null | undefined): string | undefined => {
  if (!given) return undefined
  const at = new Date(given)
  return Number.isNaN(at.getTime()) ? given : at.toISOString()
}
