/** Schemas for bodies of dialects. They check only types, since the schema of the message checks the fields. */
import * as z from 'zod'
import { saysNothing } from './ignored-fields.ts'

/** Text, or null or undefined as clients write an absent field. */
export const text = z.string().nullish()
export const flag = z.boolean().nullish()
/** Many messages of a request may share a map, and each reads all of it. */
const maxMapped = 1000
const isFew = (map: object): boolean => Object.keys(map).length <= maxMapped
const few = `at most ${String(maxMapped)} names`

export const mapOf = <V extends z.ZodType>(values: V) => z.record(z.string(), values).refine(isFew, few)
export const textMap = mapOf(z.string()).nullish()
export const anyMap = mapOf(z.unknown()).nullish()
/** Some clients declare template ids as numbers. */
export const templateName = z.union([z.string().min(1), z.int()]).nullish()

export const person = z.looseObject({ email: z.string(), name: text })
/** Refuses a field that would change the mail and is not supported here. Empty values are allowed. */
export const refused = (instead: string) => z.unknown().refine(saysNothing, `is not supported here; ${instead}`).optional()

/** Refuses text with markers that only the other service replaces, since they would be visible in the mail. */
export const withoutMarkers = <S extends z.ZodType<string | null | undefined>>(schema: S, marker: RegExp, instead: string) =>
  schema.refine(
    (given) => !given || !marker.test(given),
    `contains an unsubscribe link that only the other service fills in; use ${instead}`,
  )

/** Converts a person to the form of `POST /v1/messages`. */
export const mailboxOf = ({ email, name }: { readonly email: string; readonly name?: string | null | undefined }) =>
  name ? { email, name: unquoted(name) } : { email }

/** Removes the quotes around a name that some clients write as in a header field (RFC 5322 §3.2.4). */
function unquoted(name: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)+)"$/s.exec(name.trim()) ?? []
  return inner === undefined ? name : inner.replaceAll(/\\(.)/gs, '$1')
}

/** Converts seconds since the epoch to the form of `send_at`. An invalid time is returned as text, and is refused later. */
export const timeOfSeconds = (seconds: number | null | undefined): string | undefined => {
  if (seconds === null || seconds === undefined || seconds === 0) return undefined
  const at = new Date(seconds * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString()
}

/** Converts a time in any form that `Date` parses to RFC 3339. */
export const timeOfText = (given: string | null | undefined): string | undefined => {
  if (!given) return undefined
  const at = new Date(given)
  return Number.isNaN(at.getTime()) ? given : at.toISOString()
}
