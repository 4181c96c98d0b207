/** Times on the wire: RFC 3339 in UTC with milliseconds. The core uses milliseconds since the epoch. */
import * as z from 'zod'

/** A time in responses. */
export const wireTime = z.iso.datetime({ precision: 3 }).meta({ description: 'RFC 3339, UTC' })

/** A time in requests, with any offset; parsed to milliseconds since the epoch. */
export const timeInput = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

/** Formats milliseconds since the epoch as `2026-11-21T13:00:00.000Z`. */
export function toWireTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Formats an optional time; returns null if it is missing. */
export const orNull = (ms: number | null | undefined): string | null => (ms === null || ms === undefined ? null : toWireTime(ms))
