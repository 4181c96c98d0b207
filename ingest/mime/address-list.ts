/** Parses address header fields for display (RFC 5322 §3.4), lenient and in one pass. No decision depends on the result. */
import { decodeEncodedWords } from './encoded-words.ts'

const maxEntries = 1000

/** One displayed address: the addr-spec, empty if the entry has no address, and the decoded display name. */
export interface ListedAddress {
  readonly address: string
  readonly name: string
}

interface Entry {
  phrase: string
  /** The phrase with a space in place of quoted text. */
  unquoted: string
  angle: string | undefined
  /** Length of the phrase at the angle bracket. If no comma follows, later text belongs to the next address. */
  named: number
  comment: string
}

/**
 * Returns the addresses of one field value, at most `most`. A group is replaced by its members. Encoded words are decoded in names only:
 * RFC 2047 §5 forbids them in an addr-spec, and decoding them there would invent addresses.
 */
export function addressList(value: string, most = maxEntries): ListedAddress[] {
  const found: ListedAddress[] = []
  for (const entry of entries(value)) {
    found.push(...listedAddresses(entry))
    if (found.length >= most) break
  }
  return found.slice(0, most)
}

const emptyEntry = (): Entry => ({ phrase: '', unquoted: '', angle: undefined, named: 0, comment: '' })

function* entries(value: string): Generator<Entry> {
  let entry: Entry = emptyEntry()
  let at = 0
  while (at < value.length) {
    const char = value[at] ?? ''
    if (char === '"' || char === '(' || char === '<') {
      const [inner, end] = enclosed(value, at)
      if (char === '(') entry.comment ||= inner
      else if (char === '<') {
        if (entry.angle !== undefined) {
          const next = entry.phrase.slice(entry.named)
          yield { ...entry, phrase: entry.phrase.slice(0, entry.named) }
          entry = { ...emptyEntry(), phrase: next }
        }
        entry.angle = inner.trim()
        entry.named = entry.phrase.length
      } else {
        entry.phrase += inner
        entry.unquoted += ' '
      }
      at = end
      continue
    }
    if (char === ',' || char === ';') {
      yield entry
      entry = emptyEntry()
    } else if (char === ':' && entry.angle === undefined) {
      // the text before the colon was the name of a group
      entry = emptyEntry()
    } else {
      entry.phrase += char
      entry.unquoted += char
    }
    at += 1
  }
  yield entry
}

const closers: Readonly<Record<string, string>> = { '"': '"', '(': ')', '<': '>' }

/** Returns the text from the opening character to its partner or the end, with backslashes resolved, and the next position. */
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

function listedAddresses(entry: Entry): ListedAddress[] {
  const comment = decodeEncodedWords(entry.comment).trim()
  if (entry.angle !== undefined)
    return [{ address: plainAddress(specWithoutComments(withoutRoute(entry.angle))), name: nameOf(entry.phrase) || comment }]
  const several = addressesWithoutCommas(entry)
  if (several.length > 0) return several.map((address) => ({ address, name: comment }))
  const word = lastAddress(entry.unquoted)
  if (word !== '') return [{ address: word, name: nameOf(withoutLast(entry.phrase, word)) || comment }]
  const name = nameOf(entry.phrase)
  return name === '' ? [] : [{ address: '', name }]
}

/** One address, or several addresses without commas. Empty if the phrase contains another word. */
function addressesWithoutCommas({ phrase, unquoted }: Entry): string[] {
  const trimmed = phrase.trim()
  const host = trimmed.slice(trimmed.lastIndexOf('@') + 1)
  const bare = host.length > maxSpec ? '' : plainAddress(trimmed.slice(0, -host.length).trimEnd() + withoutBlanks(host))
  if (bare !== '') return [bare]
  if (phrase !== unquoted) return []
  const words = trimmed.split(/[ \t]+/, maxEntries + 1)
  return words.every(isAddress) ? words : []
}

const isAddress = (word: string): boolean => plainAddress(word) !== '' && !word.startsWith('=?')

const maxSpec = 2000

/** Removes comments and white space around dots and the at sign, which are not part of the address (RFC 5322 §3.4.1, §4.4). */
function specWithoutComments(angle: string): string {
  if (angle.length > maxSpec) return ''
  const plain = angle.replaceAll(/"(?:[^"\\]|\\[^])*"|\([^()]*\)/g, (found) => (found.startsWith('"') ? found : ' ')).trim()
  return plain.includes('"') ? plain : withoutBlanks(plain)
}

const withoutBlanks = (spec: string): string => spec.trim().replaceAll(/[ \t]*([.@])[ \t]*/g, '$1')

const nameOf = (phrase: string): string => decodeEncodedWords(phrase).replaceAll('\t', ' ').trim()

/** Removes an obsolete route, whose hosts have no meaning (RFC 5322 §4.4, obs-route). */
const withoutRoute = (angle: string): string => (angle.startsWith('@') ? angle.slice(angle.indexOf(':') + 1).trim() : angle)

/** Returns the last address in an entry without angle brackets; empty if it has no address. */
function lastAddress(text: string): string {
  const word = text.split(/[ \t]+/).findLast((piece) => piece.includes('@') && !piece.startsWith('=?'))
  return word === undefined ? '' : plainAddress(word)
}

function withoutLast(text: string, word: string): string {
  const at = text.lastIndexOf(word)
  return `${text.slice(0, at)} ${text.slice(at + word.length)}`
}

/** Returns an empty string if the text cannot be a single address. */
function plainAddress(text: string): string {
  return text.length <= 320 && text.includes('@') && !/[\s\p{Cc}<>]/u.test(text) ? text : ''
}
