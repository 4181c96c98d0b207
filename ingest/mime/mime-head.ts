/** Parses the header of a message or part, with the place of every field (RFC 5322 §2.2, RFC 2045 §5). Refuses ambiguous headers. */

/** The MIME structure is ambiguous, so that another parser may see a different message. */
export class BrokenMime extends Error {
  override readonly name = 'BrokenMime'
}

/** A field and its place from the name to the line end. */
export interface PlacedField {
  /** In lower case. */
  readonly name: string
  /** Unfolded, with one character for each octet. */
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface MimeHead {
  readonly fields: readonly PlacedField[]
  /** Offset of the body, after the empty line. */
  readonly bodyStart: number
}

/** A value with parameters, such as Content-Type. Names and the value are in lower case. */
export interface Parameterized {
  readonly value: string
  readonly parameters: ReadonlyMap<string, string>
}

const maxHeadOctets = 256 * 1024
const lineEnd = '\r\n'

/** Parses the header at `start` of a part that ends at `end`. Throws `BrokenMime`. */
export function readMimeHead(raw: Buffer, start: number, end: number): MimeHead {
  const part = raw.subarray(start, Math.min(end, start + maxHeadOctets))
  if (part.toString('latin1', 0, lineEnd.length) === lineEnd) return { fields: [], bodyStart: start + lineEnd.length }
  const stop = part.indexOf(`${lineEnd}${lineEnd}`)
  if (stop < 0 && end - start > maxHeadOctets) throw new BrokenMime('a header is too long')
  const block = part.toString('latin1', 0, stop < 0 ? part.length : stop + lineEnd.length)
  if (/\r(?!\n)|(?<!\r)\n/.test(block)) throw new BrokenMime('a header has a bare CR or LF')
  return { fields: placedFields(block, start), bodyStart: stop < 0 ? end : start + stop + 2 * lineEnd.length }
}

function placedFields(block: string, offset: number): PlacedField[] {
  const fields: PlacedField[] = []
  // a field and its continuation lines
  for (const match of block.matchAll(/[^\r\n]*(?:\r\n[ \t][^\r\n]*)*(?:\r\n|$)/g)) {
    const [line] = match
    if (line === '') continue
    const [whole, name = '', value = ''] = /^([!-9;-~]+)[ \t]*:([^]*)$/.exec(line) ?? []
    if (whole === undefined) throw new BrokenMime('a line in a header is not a field')
    const start = offset + match.index
    fields.push({ name: name.toLowerCase(), value: value.replaceAll(lineEnd, '').trim(), start, end: start + line.length })
  }
  return fields
}

/** The single field with that name, or undefined. Throws `BrokenMime` if it occurs more than once. */
export function onlyField(fields: readonly PlacedField[], name: string): PlacedField | undefined {
  const named = fields.filter((field) => field.name === name)
  if (named.length > 1) throw new BrokenMime(`${name} occurs twice`)
  return named[0]
}

const parameter = /\s*;\s*(?:([^\s;="]+)\s*=\s*("(?:[^"\\]|\\[^])*"|[^\s;"]*))?/y

/** Splits a value and its parameters (RFC 2045 §5.1). Throws `BrokenMime` if the value is ambiguous. */
export function parseParameterized(text: string): Parameterized {
  const plain = withoutComments(text).trim()
  const value = /^[^\s;"=]*/.exec(plain)?.[0] ?? ''
  const parameters = new Map<string, string>()
  parameter.lastIndex = value.length
  while (parameter.lastIndex < plain.length) {
    const match = parameter.exec(plain)
    if (!match) throw new BrokenMime('a parameter is malformed')
    const [, name, given = ''] = match
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (parameters.has(key)) throw new BrokenMime(`the parameter ${key} occurs twice`)
    parameters.set(key, given.startsWith('"') ? given.slice(1, -1).replaceAll(/\\([^])/g, '$1') : given)
  }
  return { value: value.toLowerCase(), parameters }
}

/** Removes comments (RFC 5322 §3.2.2), which may nest. Parentheses inside quotes are not comments. */
export function withoutComments(text: string): string {
  if (!text.includes('(')) return text
  let plain = ''
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    const pair = character === '\\' ? text.slice(at, at + 2) : character
    if (pair === '"' && depth === 0) quoted = !quoted
    if (pair === '(' && !quoted) depth++
    if (depth === 0) plain += pair
    if (pair === ')' && !quoted && depth > 0) depth--
    at += pair.length - 1
  }
  if (depth > 0 || quoted) throw new BrokenMime('a comment or quote is not closed')
  return plain
}
