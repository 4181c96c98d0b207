/** Parses the records in a line: none, plain text, or JSON objects. */
import { isWithinBounds } from '../events/json-bounds.ts'
import { objectIn, parseJson, type JsonObject } from '../events/json-value.ts'

export type LogRecord =
  | { readonly kind: 'empty' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly value: JsonObject }

const maxRecords = 1000
/** Limits for the JSON in one line. An array of records needs the most. */
const lineBounds = { depth: 64, containers: 20_000, members: 50_000 }
/** A shorter line cannot exceed the limits. */
const countedUnitsMin = 4096

/** Parses a line. An array, or `{"events": […]}`, yields several records. */
export function recordsIn(line: string | undefined): readonly LogRecord[] {
  if (line === undefined) return [{ kind: 'unreadable', reason: 'is longer than 1,048,576 characters' }]
  const text = line.trim() // also removes a byte order mark
  if (text === '') return [{ kind: 'empty' }]
  if (!text.startsWith('{') && !(text.startsWith('[') && /^\[\s*[{\]]/.test(text))) return [{ kind: 'text', text }]
  if (text.length > countedUnitsMin && !isWithinBounds(text, lineBounds))
    return [{ kind: 'unreadable', reason: 'exceeds the limits on nesting or size' }]
  const value = parseJson(text)
  if (value === undefined) return [{ kind: 'unreadable', reason: 'is not valid JSON' }]
  const list = listIn(value)
  if (list.length > maxRecords) return [{ kind: 'unreadable', reason: `contains more than ${String(maxRecords)} records` }]
  return list.length === 0 ? [{ kind: 'empty' }] : list.map(recordOf)
}

function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const events = objectIn(value)?.['events']
  return Array.isArray(events) ? events : [value]
}

function recordOf(given: unknown): LogRecord {
  const value = objectIn(given)
  return value ? { kind: 'json', value } : { kind: 'unreadable', reason: 'contains a record that is not an object' }
}
