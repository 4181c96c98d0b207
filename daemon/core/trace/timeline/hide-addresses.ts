/** Hides mail addresses, local parts of recipients and the subject in replies of servers. Pure, and linear in their length. */

/** Replaces hidden text. */
export const hiddenMark = '[hidden]'

/** Longer replies are cut. */
const maxText = 2000

interface PrivateFacts {
  /** Addresses of all recipients, including blind copies. */
  readonly recipients: readonly string[]
  /** The decoded subject. */
  readonly subject: string
}

/** Half-open range of characters. */
type Span = readonly [start: number, end: number]

/** Returns a function for the replies about one message. */
export function addressHider({ recipients, subject }: PrivateFacts): (reply: string) => string {
  const words = wordsOf(recipients)
  const phrases = [lettersOf(subject)].filter(({ length }) => length >= minPhrase)
  return (reply) => {
    const isCut = reply.length > maxText
    const text = reply.slice(0, maxText).toWellFormed()
    const known = (part: string, mayEnd: boolean): Span[] =>
      [false, true].flatMap((isDecoded) => wordSpans(squeeze(part, isDecoded), words, phrases, mayEnd))
    const isKnown = (part: string): boolean => part.includes('@') || known(part, false).length > 0
    const spans = [...addressSpans(text), ...encodedSpans(text, isKnown), ...known(text, isCut || text.endsWith('…'))]
    return withMarks(text, spans) + (isCut ? '…' : '')
  }
}

function withMarks(text: string, spans: readonly Span[]): string {
  let [shown, at] = ['', 0]
  for (const [start, end] of spans.toSorted(([a], [b]) => a - b)) {
    if (end <= at) continue
    shown += start > at || at === 0 ? `${text.slice(at, Math.max(at, start))}${hiddenMark}` : ''
    at = end
  }
  return shown + text.slice(at)
}

/** Signs between local part and domain: plain, encoded, spelled out, and the percent sign of source routes. */
const atSigns = /[@＠﹫]|%40|=40|&#0{0,5}64;|&#x0{0,5}40;|&commat;|\\u0040|[([{<] ?at ?[)\]}>]|_at_|%(?=[\p{L}\p{N}-]{1,63}\.\p{L})/giu
const endsLocalPart = /[\s<>()[\]{}:;,"“”«»@＠﹫\p{Cc}]/u
const inDomain = /[\p{L}\p{N}\p{M}\p{Cf}._%=\-。．｡]/u
const maxQuoted = 320

function addressSpans(text: string): Span[] {
  const spans: Span[] = []
  let after = 0
  for (const { 0: sign, index } of text.matchAll(atSigns)) {
    if (index < after) continue
    const start = localPartAt(text, index, after)
    const end = domainEnd(text, index + sign.length)
    const isSpelled = /at[^@]$/i.test(sign)
    const isRoute = index === after && after > 0
    if ((start === index && !isRoute) || (isSpelled && !text.slice(index + sign.length, end).includes('.'))) continue
    spans.push([start, end])
    after = end
  }
  return spans
}

/** Returns the start of the local part before the sign, or the place of the sign if there is none. */
function localPartAt(text: string, sign: number, least: number): number {
  const last = sign > least && /[\s\p{Cf}]/u.test(text.charAt(sign - 1)) ? sign - 1 : sign
  if (text.charAt(last - 1) === '"') {
    for (let at = last - 2; at >= Math.max(least, last - maxQuoted); at--)
      if (text.charAt(at) === '"' && text.charAt(at - 1) !== '\\') return at
    return last - 1
  }
  let at = last
  while (at > least && !endsLocalPart.test(text.charAt(at - 1))) at--
  return at === last ? sign : at
}

function domainEnd(text: string, from: number): number {
  const start = /[\s\p{Cf}]/u.test(text.charAt(from)) && inDomain.test(text.charAt(from + 1)) ? from + 1 : from
  if (text.charAt(start) === '[') {
    const close = text.slice(start, start + 100).indexOf(']')
    if (close > 0) return start + close + 1
  }
  let end = start
  while (end < text.length && (inDomain.test(text.charAt(end)) || /[\uD800-\uDFFF]/.test(text.charAt(end)))) end++
  while (end > start && /[.\-=。．｡]/.test(text.charAt(end - 1))) end--
  return end === start ? from : end
}

const maxBase64 = 50

/** Encoded words (RFC 2047 §2), and Base64 of an address or of a known word. */
function encodedSpans(text: string, isKnown: (part: string) => boolean): Span[] {
  const words = [...text.matchAll(/=\?[^?\s]{1,40}\?[bq]\?[^?\s]{0,500}\?=/gi)]
  const base64 = [...text.matchAll(/[A-Za-z0-9+/_-]{8,}={0,2}/g)].slice(0, maxBase64).filter(([found]) => {
    const decoded = Buffer.from(found, 'base64').toString('utf8')
    return !/[\uFFFD\p{Cc}]/u.test(decoded) && isKnown(decoded)
  })
  return [...words, ...base64].map(({ 0: found, index }) => [index, index + found.length])
}

/** Letters and digits of a text in one form, each with its place in the text. */
interface Squeezed {
  readonly text: string
  readonly spans: readonly Span[]
}

const escapes = /(?:%[0-9a-f]{2})+|(?:=[0-9a-f]{2})+|(?:\+[0-9a-f]{2})+|&#(?:\d{1,7}|x[0-9a-f]{1,6});|\\u[0-9a-f]{4}/iy
/** A line break, and the codes that the next line repeats. */
const lineBreak = /\r?\n(?:[245]\d\d[ -])?(?:[245]\.\d{1,3}\.\d{1,3} )?/y

/** Drops everything but letters and digits, so that quotes, separators, line breaks and invisible characters cannot split a word. */
function squeeze(text: string, isDecoded: boolean): Squeezed {
  const spans: Span[] = []
  let kept = ''
  for (let at = 0; at < text.length;) {
    const found = matchAt(lineBreak, text, at) ?? (isDecoded ? matchAt(escapes, text, at) : undefined)
    const part = found ?? String.fromCodePoint(text.codePointAt(at) ?? 0)
    const letters = lettersOf(found === undefined ? part : found.startsWith('\n') || found.startsWith('\r') ? '' : decodedOf(found))
    kept += letters
    for (let i = 0; i < letters.length; i++) spans.push([at, at + part.length])
    at += part.length
  }
  return { text: kept, spans }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function decodedOf(escape: string): string {
  const number = /^&#x?([0-9a-f]+);$/i.exec(escape)?.[1] ?? /^\\u(.{4})$/.exec(escape)?.[1]
  if (number === undefined) return Buffer.from(escape.replaceAll(/[%=+]/g, ''), 'hex').toString('utf8')
  const code = Number.parseInt(number, /^(?:&#x|\\u)/i.test(escape) ? 16 : 10)
  return code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
}

const lettersOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Shorter words are hidden only if no letter or digit is next to them. Scripts without spaces have no such words. */
const minInside = 6
const minPhrase = 6
const minBeginning = 3
const isUnspaced = (word: string): boolean => /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Khmer}\p{sc=Lao}]/u.test(word)

/** Returns the local parts, and those without a tag. */
function wordsOf(addresses: readonly string[]): readonly string[] {
  const parts = addresses.map((address) => address.slice(0, Math.max(0, address.lastIndexOf('@'))))
  const words = parts.flatMap((part) => [part, part.split('+', 1)[0] ?? '']).map(lettersOf)
  return [...new Set(words)].filter((word) => word !== '')
}

function wordSpans({ text, spans }: Squeezed, words: readonly string[], phrases: readonly string[], mayEnd: boolean): Span[] {
  const found: Span[] = []
  const isApart = (left: number): boolean => left < 0 || left + 1 >= text.length || (spans[left]?.[1] ?? 0) < (spans[left + 1]?.[0] ?? 0)
  const add = (first: number, length: number): void => {
    found.push([spans[first]?.[0] ?? 0, spans[first + length - 1]?.[1] ?? 0])
  }
  for (const word of [...words, ...phrases]) {
    const isInside = word.length >= minInside || isUnspaced(word)
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length))
      if (isInside || (isApart(at - 1) && isApart(at + word.length - 1))) add(at, word.length)
    const most = mayEnd ? Math.min(word.length - 1, text.length) : 0
    for (let length = most; length >= minBeginning; length--)
      if (text.endsWith(word.slice(0, length)) && isApart(text.length - length - 1)) add(text.length - length, length)
  }
  return found
}
