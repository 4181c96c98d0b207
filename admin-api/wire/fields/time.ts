/** Times on the wire: RFC 3339 in UTC with milliseconds; milliseconds since the epoch inside. */
import * as z from 'zod'

/** A time as we write it. */
export const wireTime = z.iso.datetime({ precision: 3 }).meta({ description: 'RFC 3339, UTC' })

/** A time as callers give it, with any offset; comes out as milliseconds since the epoch. */
export const timeInput = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

/** Milliseconds since the epoch as `2026-11-21T13:00:00.000Z`. */
export function toWireTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** The same of a time that may be missing. */
export const orNull = (ms: number | null | undefined): string | null => (ms === null || ms === undefined ? null : toWireTime(ms))
