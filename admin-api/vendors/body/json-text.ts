/** Reads JSON objects inside text fields. The limits of the request body do not apply to their values. */
import { parseJson, usualJson } from '../../bodies/json/json-body.ts'
import { invalid } from '#core/refusals.ts'
import type { Fields } from '../dialect.ts'

/** In characters. The text is parsed at once, on the main thread. */
const maxText = 1_048_576

/** Returns an empty object for an empty text. Throws `validation_failed` with the path. */
export function objectIn(text: string | null | undefined, path: string): Fields {
  if (!text) return {}
  const fault = (message: string) => invalid([{ path, message }])
  if (text.length > maxText) throw fault(`at most ${String(maxText)} characters`)
  const reading = parseJson(Buffer.from(text), usualJson)
  if ('fault' in reading) throw fault(reading.fault)
  const { value } = reading
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('must be a JSON object')
  return value as Fields
}
