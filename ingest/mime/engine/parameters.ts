/** Parses parameters of Content-Type and Content-Disposition like mailparser, and decodes their text (RFC 2231, RFC 2047). */
import { decodeOctets } from '#config/mail/charset/decode-octets.ts'
import { decodeWithControls } from '../encoded-words.ts'

/** The parameters by name in lower case, with quotes and escapes resolved. The last parameter of a name counts. */
export function parametersOf(value: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, key = '', given = ''] of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*((?:"(?:[^"\\]|\\[^])*"?|[^;"\\]|\\[^])*)/g))
    found.set(key.toLowerCase(), unquoted(given))
  return found
}

/** A backslash before other characters belongs to a Windows path, which old programs write as a file name. */
const escapable = /[^\p{L}\p{N}_]/u

function unquoted(given: string): string {
  let text = ''
  let end = 0
  let isQuoted = false
  for (let at = 0; at < given.length; at++) {
    const char = given.charAt(at)
    if (char === '"') isQuoted = !isQuoted
    else text += char === '\\' && escapable.test(given.charAt(at + 1)) ? given.charAt(++at) : char
    if (isQuoted || !/\s/.test(char)) end = text.length
  }
  return text.slice(0, end)
}

/** The text of a parameter, or an empty string. An extended or continued form wins over the plain form (RFC 2231 §3, §4). */
export function parameterText(parameters: ReadonlyMap<string, string>, name: string): string {
  const extended = parameters.get(`${name}*`)
  if (extended !== undefined) return extendedText([{ text: extended, isEncoded: true }])
  const segments = [...segmentsOf(parameters, name)]
  return segments.length > 0 ? extendedText(segments) : decodeWithControls(parameters.get(name) ?? '')
}

interface Segment {
  readonly text: string
  /** The text contains octets as `%` and two digits. */
  readonly isEncoded: boolean
}

/** Yields `name*0`, `name*1*` and so on, until a number is missing. Some programs count from 1. */
function* segmentsOf(parameters: ReadonlyMap<string, string>, name: string): Generator<Segment> {
  const first = parameters.has(`${name}*0`) || parameters.has(`${name}*0*`) ? 0 : 1
  for (let number = first; ; number++) {
    const encoded = parameters.get(`${name}*${number}*`)
    const text = encoded ?? parameters.get(`${name}*${number}`)
    if (text === undefined) return
    yield { text, isEncoded: encoded !== undefined }
  }
}

function extendedText(segments: readonly Segment[]): string {
  const [first] = segments
  const [, charset = '', rest] = (first?.isEncoded === true && /^([^']*)'[^']*'([^]*)$/.exec(first.text)) || []
  const given = rest === undefined ? segments : [{ text: rest, isEncoded: true }, ...segments.slice(1)]
  if (!segments.some(({ isEncoded }) => isEncoded)) return decodeWithControls(segments.map(({ text }) => text).join(''))
  return decodeOctets(Buffer.concat(given.map(octetsOf)), charset).text
}

/** Decodes the octets of a segment. These forms permit ASCII only; other characters count as UTF-8. */
const octetsOf = ({ text, isEncoded }: Segment): Buffer =>
  isEncoded
    ? Buffer.from(
        Buffer.from(text)
          .toString('latin1')
          .replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
        'latin1',
      )
    : Buffer.from(text)
