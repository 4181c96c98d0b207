/** Text and ids as callers give them: bounded, and on one line where a line is meant. */
import * as z from 'zod'

// C0, DEL, C1, and the two separators of Unicode.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Text without control characters and line breaks. */
export function line(max: number, description?: string) {
  const text = z.string().max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

/** Like `line`, and not empty. */
export function filledLine(max: number, description?: string) {
  const text = z.string().min(1).max(max).refine(isOneLine, 'must be on one line, without control characters')
  return description === undefined ? text : text.meta({ description })
}

export const isOneLine = (text: string): boolean => !controls.test(text)

/** An id in a path, a query or a body. What is none of ours finds nothing. */
export const id = z.string().min(1).max(64)
export const idParams = z.strictObject({ id })

/** A move to another project. */
export const moveBody = z.strictObject({ project_id: id })
