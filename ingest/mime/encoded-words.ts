/** Decodes the encoded words of header values (RFC 2047 §2) in linear time. */
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
  /** The decoded text of a word that contains raw non-ASCII letters. Such a word is not joined with its neighbours. */
  readonly text?: string
  readonly start: number
  readonly end: number
}

/**
 * Replaces each encoded word with its text, on one line. Control characters become spaces, so that a decoded value can never start another
 * header field. The charset of undecodable octets is guessed. Reads at most 64 Ki characters and never throws.
 */
export function decodeEncodedWords(value: string): string {
  return decodeWithControls(value).replace(controls, ' ').toWellFormed()
}

/** Decodes like `decodeEncodedWords` but keeps control characters, for values that the caller sanitizes. */
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
        // white space between two encoded words is not part of the text (RFC 2047 §6.2)
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
 * Adjacent words in one charset are decoded together, because many senders split a character between two words. Words of a stateful charset
 * are decoded alone: each begins and ends in ASCII (RFC 2047 §3).
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
  // RFC 2231 §5 permits a language after an asterisk
  const charset = (text.slice(start + 2, charsetEnd).split('*')[0] ?? '').toLowerCase()
  const place = { charset, start, end: bodyEnd + 2 }
  if (encoding === 'B') return { ...place, bytes: Buffer.from(body, 'base64') }
  return { ...place, bytes: decodeQ(body), ...(rawLetters.test(body) && { text: textBesideLetters(body, charset) }) }
}

const rawLetters = /[^\0-\x7f]/

/** RFC 2047 §4.2 permits ASCII only. Other letters stay unchanged between the encoded octets. */
const textBesideLetters = (body: string, charset: string): string =>
  body.replaceAll(/[\0-\x7f]+/g, (encoded) => decodeOctets(decodeQ(encoded), charset).text)

/** Decodes the Q encoding (RFC 2047 §4.2). */
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
