/**
 * Parses a line of Stalwart's log: `time LEVEL description (type) key = value, …`. Strings are quoted. Older versions do not escape quotes
 * in strings, and repeat keys (first for the envelope, last for the event).
 */
import type { JsonObject } from '../../events/json-value.ts'
import { concernsUs, notOurs, readStalwartEvent, refused, type Outcome } from './stalwart-event.ts'

const head =
  /^(\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d)) (?:TRACE|DEBUG|INFO|WARN|ERROR) [^(]{0,200}\(([a-z0-9-]+\.[a-z0-9-]+)\)(?: |$)/
const color = /\u001b\[[\d;]{0,8}m/g

export function readStalwartText(line: string): Outcome {
  const text = line.includes('\u001b') ? line.replaceAll(color, '') : line
  const [start, createdAt, type] = head.exec(text) ?? []
  if (start === undefined) return refused('is not a line of a Stalwart log')
  if (!type || !concernsUs(type)) return notOurs
  return readStalwartEvent({ type, createdAt, data: fieldsIn(text.slice(start.length)) })
}

const key = /([A-Za-z][A-Za-z0-9]{0,40}) = /y
/** A quote ends a string if the text ends after it, or if the next key follows. */
const closing = /"(?=$|, [A-Za-z][A-Za-z0-9]{0,40} = )/g
/** A bracket ends a list in the same way, because addresses may contain brackets. */
const closingBracket = /\](?=$|, [A-Za-z][A-Za-z0-9]{0,40} = )/g
const separator = ', '

function fieldsIn(text: string): JsonObject {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  let at = 0
  while (at < text.length) {
    key.lastIndex = at
    const [found, name = ''] = key.exec(text) ?? []
    if (found === undefined) break
    const from = at + found.length
    const end = valueEnd(name, text, from)
    fields[name] = valueOf(text.slice(from, end))
    at = end + separator.length
  }
  return fields
}

function valueEnd(name: string, text: string, from: number): number {
  if (text[from] === '"') return stringEnd(name, text, from + 1)
  if (text[from] === '[') {
    closingBracket.lastIndex = from
    const end = closingBracket.exec(text)
    return end ? end.index + 1 : text.length
  }
  const end = text.indexOf(separator, from)
  return end < 0 ? text.length : end
}

/**
 * Offset of the end of a string. `details` contains the reply of a foreign server, which could insert quotes and keys into an old log. So
 * it extends to the last quote of the line, since Stalwart writes no later string.
 */
function stringEnd(name: string, text: string, from: number): number {
  if (name === 'details') {
    const last = text.lastIndexOf('"')
    return last < from ? text.length : last + 1
  }
  closing.lastIndex = from
  for (let found = closing.exec(text); found; found = closing.exec(text)) if (!isEscaped(text, found.index)) return found.index + 1
  return text.length
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

function valueOf(raw: string): unknown {
  if (raw.startsWith('"')) return unescaped(raw.slice(1, raw.endsWith('"') ? -1 : undefined))
  if (!raw.startsWith('[')) return raw
  return raw
    .slice(1, raw.endsWith(']') ? -1 : undefined)
    .split(separator)
    .filter((entry) => entry !== '')
    .map((entry) => (entry.startsWith('"') ? unescaped(entry.slice(1, -1)) : entry))
}

const escapes: Readonly<Record<string, string>> = { r: '\r', n: '\n', t: '\t', '\\': '\\', '"': '"' }

const unescaped = (text: string): string =>
  text.includes('\\') ? text.replaceAll(/\\([rnt"\\])/g, (_, letter: string) => escapes[letter] ?? letter) : text
