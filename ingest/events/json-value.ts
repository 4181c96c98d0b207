/** Reads untrusted JSON field by field; each value is checked for its type. */
import { withCommas } from '#config/texts/formats.ts'
import { isUtf8 } from 'node:buffer'
import type { FieldProblem } from '#core/refusals.ts'
import { documentBounds, isWithinBounds } from './json-bounds.ts'

/** The error result for an unreadable body. `problems` is reported to the sender. */
export interface Unreadable {
  readonly problems: readonly FieldProblem[]
}

export type JsonObject = Readonly<Record<string, unknown>>

/** Size limit in octets, after decompression. */
const maxBodyBytes = 5 * 1024 * 1024

const beyondBounds =
  `must nest at most ${String(documentBounds.depth)} levels deep and hold at most ${withCommas(documentBounds.containers)} objects ` +
  `and lists and ${withCommas(documentBounds.members)} fields; send it in several requests`

/** Parses a body as JSON within `documentBounds`. */
export function parseBody(body: Uint8Array): { readonly value: unknown } | Unreadable {
  if (body.length > maxBodyBytes) return unreadable('body', `must be at most ${withCommas(maxBodyBytes)} octets long`)
  if (!isUtf8(body)) return unreadable('body', 'must be UTF-8 text')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    .toString()
    .replace(/^\ufeff/, '')
  if (!isWithinBounds(text, documentBounds)) return unreadable('body', beyondBounds)
  const value = parseJson(text)
  return value === undefined ? unreadable('body', 'is not JSON') : { value }
}

/** Parses JSON. Long queue IDs become strings, because JavaScript numbers would round them. Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.includes('"queueId"') ? text.replaceAll(longId, '"queueId":"$1"') : text)
  } catch {
    return undefined
  }
}

// A quoted key cannot match inside a string, because its quotes would be escaped there.
const longId = /"queueId"[ \t\r\n]*:[ \t\r\n]*(\d{16,20})(?![\d.eE])/g

export const unreadable = (path: string, message: string): Unreadable => ({ problems: [{ path, message }] })

export const objectIn = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined

export const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The text of a string or number: senders use either for codes and IDs. */
export const textOrNumberIn = (value: unknown): string | null => (typeof value === 'number' ? String(value) : textIn(value))

/** Serializes a value independently of the order of its keys. Replaces values below eight levels by "…". */
export function canonical(value: unknown, depth = 8): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  if (depth === 0) return '…'
  if (Array.isArray(value)) return `[${value.map((entry) => canonical(entry, depth - 1)).join()}]`
  const fields = value as JsonObject
  const keys = Object.keys(fields).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(fields[key], depth - 1)}`).join()}}`
}
