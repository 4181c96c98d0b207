/** Reads address header fields for display (RFC 5322 §3.4), lenient and in one pass; nothing is decided with the result. */
import { decodeEncodedWords } from './encoded-words.ts'

const maxEntries = 1000

/** One address as shown to people: the addr-spec, empty for an entry that has none, and the decoded display name. */
export interface ListedAddress {
  readonly address: string
  readonly name: string
}

interface Entry {
  phrase: string
  angle: string | undefined
  comment: string
}

/**
 * Returns the addresses of one field value, at most 1,000; members of a group stand for the group. Encoded words are
 * decoded in names only: RFC 2047 §5 forbids them in an addr-spec, and decoding them there would invent addresses.
 */
export function addressList(value: string): ListedAddress[] {
  const found: ListedAddress[] = []
  for (const entry of entries(value)) {
    const listed = listedAddress(entry)
    if (listed) found.push(listed)
    if (found.length === maxEntries) break
  }
  return found
}

function* entries(value: string): Generator<Entry> {
  let entry: Entry = { phrase: '', angle: undefined, comment: '' }
  let at = 0
  while (at < value.length) {
    const char = value[at] ?? ''
    if (char === '"' || char === '(' || char === '<') {
      const [inner, end] = enclosed(value, at)
      if (char === '(') entry.comment ||= inner
      else if (char === '<') entry.angle ??= inner.trim()
      else entry.phrase += inner
      at = end
      continue
    }
    if (char === ',' || char === ';') {
      yield entry
      entry = { phrase: '', angle: undefined, comment: '' }
    } else if (char === ':' && entry.angle === undefined) {
      // What stood before the colon was the name of a group.
      entry = { phrase: '', angle: undefined, comment: '' }
    } else entry.phrase += char
    at += 1
  }
  yield entry
}

const closers: Readonly<Record<string, string>> = { '"': '"', '(': ')', '<': '>' }

/** The text from the opening character to its partner, or to the end, with backslashes resolved, and where to go on. */
function enclosed(value: string, start: number): [string, number] {
  const opener = value[start] ?? ''
  const closer = closers[opener]
  let inner = ''
  let depth = 1
  for (let at = start + 1; at < value.length; at += 1) {
    const char = value[at] ?? ''
    if (char === '\\' && opener !== '<') {
      at += 1
      inner += value[at] ?? ''
      continue
    }
    if (char === closer) depth -= 1
    else if (char === '(' && opener === '(') depth += 1
    if (depth === 0) return [inner, at + 1]
    inner += char
  }
  return [inner, value.length]
}

function listedAddress(entry: Entry): ListedAddress | undefined {
  const phrase = decodeEncodedWords(entry.phrase).replaceAll('\t', ' ').trim()
  const comment = decodeEncodedWords(entry.comment).trim()
  if (entry.angle !== undefined) return { address: plainAddress(entry.angle), name: phrase || comment }
  const bare = plainAddress(entry.phrase.trim())
  if (bare.includes('@')) return { address: bare, name: comment }
  return phrase === '' ? undefined : { address: '', name: phrase }
}

/** Empty when the text cannot be one address. */
function plainAddress(text: string): string {
  return text.length <= 320 && text.includes('@') && !/[\s\p{Cc}<>]/u.test(text) ? text : ''
}
