/** Addresses as reports write them: with a type before, in angle brackets, among words. */

const maxLine = 2000
/** Letters of scripts that set spaces between words, and marks on them. */
const spaced =
  '\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Armenian}\\p{Script=Georgian}\\p{Script=Devanagari}\\p{M}'
/** Letters of scripts that do not: in prose, an address stands right between them. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\u30fc'
const atom = String.raw`\w.!#$%&'*+/=?^\x60{|}~${spaced}\-`
/** RFC 6531 §3.3. A name is of one kind of script, so that the words before an address are no part of it; punctuation never is. */
const local = String.raw`(?:"[^"\n]{1,64}"|[${atom}]{1,128}|[\d._\-${unspaced}]{1,128})`
const labels = String.raw`(?:[\w\-${spaced}${unspaced}]{1,63}\.){1,30}`
/** Letters of one kind (no domain mixes them at its end), so that the words behind an address are no part of it. */
const topLabel = String.raw`(?:[A-Za-z](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?(?!\.?\w)|[${spaced}]{2,63}|[${unspaced}]{2,63})`
const asciiDomain = String.raw`[A-Za-z0-9_](?:[A-Za-z0-9._\-]{0,252}[A-Za-z0-9_])?(?![${spaced}])`
const domain = String.raw`(?:\[[\w.:]{3,60}\]|${labels}${topLabel}|${asciiDomain})`

/** The source of an expression for one address, for expressions with the flag `u`. */
export const addressSource = `${local}@${domain}`
/** Where nothing stands around it, a name may mix scripts. */
const oneAddress = new RegExp(String.raw`^(?:"[^"\n]{1,64}"|[${atom}${unspaced}]{1,128})@${domain}$`, 'u')
/** An address does not begin in the middle of one; so no run of characters is tried twice. */
const addresses = new RegExp(
  String.raw`(?<![${atom}])(?:"[^"\n]{1,64}"|[${atom}]{1,128})@${domain}|(?<![\d._\-${unspaced}])[\d._\-${unspaced}]{1,128}@${domain}`,
  'gu',
)

/** `rfc822; a@b`, also `rfc/822;`, `utf-8;` or no type, with or without angle brackets; undefined when it is no address. */
export function typedAddress(value: string): string | undefined {
  const text = value.slice(0, maxLine).replace(/^\s*[\w/-]{1,40}\s*;/, '')
  const inner = /<([^<>]*)>/.exec(text)?.[1] ?? text
  const found = plainAddress(inner)
  // A path or a program is no address, even with one among its arguments.
  if (found !== undefined || /^\s*[|/]/.test(inner)) return found
  const all = addressesIn(inner)
  return all.length === 1 ? all[0] : undefined
}

/** One address and nothing else; undefined otherwise. */
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

/** The text with all addresses taken out: digits in them are no codes. */
export const withoutAddresses = (text: string): string => text.replaceAll(addresses, 'address')

/** The machines that write reports; they are not whom a message was for. */
export const isMachine = (address: string): boolean =>
  /^(?:mailer[-_.]?daemon|post_?master|microsoftexchange[0-9a-f]{20,}|mail[.-]?delivery[.-]?(?:sub)?system|mdaemon)@/i.test(address)
