/** Finds addresses in the forms of reports: with an address type, in angle brackets, in text. */

const maxLine = 2000
/** Letters of scripts that separate words with spaces, and their combining marks. */
const spaced =
  '\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Armenian}\\p{Script=Georgian}\\p{Script=Devanagari}\\p{M}'
/** Letters of scripts without spaces: in text, they directly precede and follow an address. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\u30fc'
const atom = String.raw`\w.!#$%&'*+/=?^\x60{|}~${spaced}\-`
/** RFC 6531 §3.3. A local part uses only one group of scripts, so that preceding words do not become part of it. Punctuation never does. */
const local = String.raw`(?:"[^"\n]{1,64}"|[${atom}]{1,128}|[\d._\-${unspaced}]{1,128})`
const labels = String.raw`(?:[\w\-${spaced}${unspaced}]{1,63}\.){1,30}`
/** Letters of one script group, so that following words do not become part of the domain. No real domain mixes them in its last label. */
const topLabel = String.raw`(?:[A-Za-z](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?(?!\.?\w)|[${spaced}]{2,63}|[${unspaced}]{2,63})`
const asciiDomain = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9._\-]{0,252}[A-Za-z0-9_])?(?![${spaced}])`
const domain = String.raw`(?:\[[\w.:]{3,60}\]|${labels}${topLabel}|${asciiDomain})`

/** Source of a regular expression for one address; requires the flag `u`. */
export const addressSource = `${local}@${domain}`
/** A stand-alone address may mix scripts in its local part. */
const oneAddress = new RegExp(String.raw`^(?:"[^"\n]{1,64}"|[${atom}${unspaced}]{1,128})@${domain}$`, 'u')
/** A match starts only at the beginning of an address, so no run of characters is tried twice. */
const addresses = new RegExp(
  String.raw`(?<![${atom}])(?:"[^"\n]{1,64}"|[${atom}]{1,128})@${domain}|(?<![\d._\-${unspaced}])[\d._\-${unspaced}]{1,128}@${domain}`,
  'gu',
)

/**
 * The address in a typed value such as `rfc822; a@b`, `rfc/822;` or `utf-8;`, or without a type, with or without angle brackets. Undefined
 * if the value is not a single address.
 */
export function typedAddress(value: string): string | undefined {
  const text = value.slice(0, maxLine).replace(/^\s*[\w/-]{1,40}\s*;/, '')
  const inner = /<([^<>]*)>/.exec(text)?.[1] ?? text
  const found = plainAddress(inner)
  // a path or a program is not an address, even if its arguments contain one
  if (found !== undefined || /^\s*[|/]/.test(inner)) return found
  const all = addressesIn(inner)
  return all.length === 1 ? all[0] : undefined
}

/** The address if the text is exactly one address; otherwise undefined. */
export function plainAddress(text: string): string | undefined {
  const plain = text
    .trim()
    .replace(/^(?:mailto|smtp):/i, '')
    .replace(/\.$/, '')
  return plain.length <= 320 && oneAddress.test(plain) ? plain : undefined
}

/** All addresses of a line, in order. */
export const addressesIn = (line: string): string[] =>
  line
    .slice(0, maxLine)
    .match(addresses)
    ?.map((found) => found.replace(/^'+/, '')) ?? []

/** Replaces all addresses, because their digits are not reply codes. */
export const withoutAddresses = (text: string): string => text.replaceAll(addresses, 'address')

/** Recognizes the senders of reports, which are never recipients of a message. */
export const isMachine = (address: string): boolean =>
  /^(?:mailer[-_.]?daemon|post_?master|microsoftexchange[0-9a-f]{20,}|mail[.-]?delivery[.-]?(?:sub)?system|mdaemon)@/i.test(address)
