/** Decodes the encoded words of header values (RFC 2047 §2), by hand and in linear time. */
import { charsetNamed } from '#config/mail/charset/charset-names.ts'
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
import { isStateful } from '#config/mail/charset/stateful.ts'

const maxInput = 64 * 1024
const maxCharset = 64
const controls = /(?!\t)[\p{Cc}\p{Zl}\p{Zp}]/gu
const onlyBlanks = /^[ \t]*$/

interface Word {
  readonly charset: string
  readonly bytes: Buffer
  /** The text of a word with raw letters, which are no octets any more; such a word is decoded alone. */
  readonly text?: string
  readonly start: number
  readonly end: number
}

/**
 * Returns the value with every encoded word replaced by its text, as one line: control characters become blanks, so that
 * a decoded value can never start a header field of its own. Octets that do not fit their charset are guessed. Reads at most
 * 64 Ki characters and never throws.
 */
export function decodeEncodedWords(value: string): string {
  return decodeWithControls(value).replace(controls, ' ').toWellFormed()
}

/** As `decodeEncodedWords`, but control characters stay, for values that are made safe in another way. */
export const decodeWithControls = (value: string): string => decodeRuns(value.length > maxInput ? value.slice(0, maxInput) : value)

function decodeRuns(text: string): string {
  let out = ''
  let written = 0
  let run: Word[] = []
  const flush = (): void => {
    const first = run[0]
    const last = run.at(-1)
    if (!first || !last) return
    out += first.text ?? decodeOctets(Buffer.concat(run.map(({ bytes }) => bytes)), first.charset).text
    written = last.end
    run = []
  }
  let at = text.indexOf('=?')
  while (at >= 0) {
    const word = readWord(text, at)
    if (word) {
      if (!continues(run.at(-1), word, text)) {
        const afterWord = run.length > 0
        flush()
        // Blanks between two encoded words are not part of the text, RFC 2047 §6.2.
        if (!afterWord || !onlyBlanks.test(text.slice(written, word.start))) out += text.slice(written, word.start)
      }
      run.push(word)
    }
    at = text.indexOf('=?', word ? word.end : at + 2)
  }
  flush()
  return out + text.slice(written)
}

/**
 * Neighbours in one charset are decoded together, because many senders split a character between two words. Words of a stateful
 * charset are decoded alone: each begins and ends in ASCII (RFC 2047 §3).
 */
function continues(before: Word | undefined, word: Word, text: string): boolean {
  if (before === undefined || before.charset !== word.charset || isStateful(charsetNamed(word.charset) ?? '')) return false
  if (before.text !== undefined || word.text !== undefined) return false
  return onlyBlanks.test(text.slice(before.end, word.start))
}

function readWord(text: string, start: number): Word | undefined {
  const charsetEnd = text.slice(start + 2, start + 3 + maxCharset).indexOf('?') + start + 2
  if (charsetEnd < start + 2 || text[charsetEnd + 2] !== '?') return undefined
  const encoding = text[charsetEnd + 1]?.toUpperCase()
  const bodyEnd = text.indexOf('?', charsetEnd + 3)
  if (bodyEnd < 0 || text[bodyEnd + 1] !== '=' || (encoding !== 'B' && encoding !== 'Q')) return undefined
  const body = text.slice(charsetEnd + 3, bodyEnd)
  // RFC 2231 §5 allows a language after an asterisk.
  const charset = (text.slice(start + 2, charsetEnd).split('*')[0] ?? '').toLowerCase()
  const place = { charset, start, end: bodyEnd + 2 }
  if (encoding === 'B') return { ...place, bytes: Buffer.from(body, 'base64') }
  return { ...place, bytes: decodeQ(body), ...(rawLetters.test(body) && { text: textBesideLetters(body, charset) }) }
}

const rawLetters = /[^\0-\x7f]/

/** RFC 2047 §4.2 allows no letters beyond ASCII. They stay as they are, between the encoded octets. */
const textBesideLetters = (body: string, charset: string): string =>
  body.replaceAll(/[\0-\x7f]+/g, (encoded) => decodeOctets(decodeQ(encoded), charset).text)

/** RFC 2047 §4.2. */
function decodeQ(body: string): Buffer {
  const input = Buffer.from(body)
  const out = Buffer.alloc(input.length)
  let length = 0
  for (let at = 0; at < input.length; at += 1) {
    const octet = input[at] ?? 0
    const escaped = octet === 0x3d ? Number.parseInt(/^[0-9a-f]{2}$/i.exec(input.toString('latin1', at + 1, at + 3))?.[0] ?? '', 16) : NaN
    if (Number.isNaN(escaped)) out[length] = octet === 0x5f ? 0x20 : octet
    else {
      out[length] = escaped
      at += 2
    }
    length += 1
  }
  return out.subarray(0, length)
}
