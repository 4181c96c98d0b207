/** Normalizes the text of a refusal for matching by rules. Takes linear time; texts are cut at 2,000 characters. */

const maxText = 2000
const maxLink = 500

/**
 * Returns the reply on one line that starts with its code. Removes the type of RFC 3464 §2.3.6 (`smtp;`) and the server name that a relay
 * adds. Also removes the code of each further line (RFC 5321 §4.2.1).
 */
export function replyText(diagnostic: string, smtpCode: number | null): string {
  const line = diagnostic
    .slice(0, maxText)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^[a-z][a-z0-9-]{0,30} ?; ?/i, '')
  const said = /^.{0,300}?\b(?:said|answered|responded|replied|response|error was): ?(?=[245]\d\d[ -])/i.exec(line)?.[0].length ?? 0
  const reply = line.slice(said)
  const code = /^[245]\d\d(?=[ -])/.exec(reply)?.[0] ?? (smtpCode === null ? undefined : String(smtpCode))
  if (code === undefined) return reply
  const rest = reply.startsWith(code) ? reply.slice(code.length + 1) : reply
  return `${code} ${withoutRepeats(rest, code)}`.trimEnd()
}

/** Removes the code of each further line and the enhanced code that follows it. */
function withoutRepeats(rest: string, code: string): string {
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?= )/.exec(rest)?.[0]
  const parts = rest.split(new RegExp(` ${code}[ -]`))
  return parts
    .map((part, i) => (i > 0 && enhanced !== undefined && part.startsWith(`${enhanced} `) ? part.slice(enhanced.length + 1) : part))
    .join(' ')
}

/**
 * Returns the enhanced failure codes in the text, in order. Ignores numbers with more parts, such as IP addresses and versions. RFC 3463
 * §2.
 */
export const enhancedCodesIn = (text: string): string[] => text.match(/(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/g) ?? []

/**
 * Returns the last URL in the text, because the last line of a reply usually explains it. Also accepts a `postmaster.` host without a
 * scheme.
 */
export function linkIn(text: string): string | null {
  const found = text.match(/(?:https?:\/\/|(?<![\w./@-])postmaster\.[a-z0-9-]{1,63}\.)[^\s<>"'`\\]{1,500}/gi)?.at(-1)
  if (found === undefined) return null
  const address = found.replace(/[.,;:!?)\]}]{1,10}$/, '')
  const url = URL.parse(/^https?:/i.test(address) ? address : `https://${address}`)
  return url && url.username === '' && url.password === '' && url.href.length <= maxLink ? url.href : null
}

/** Returns the first email address in the text. */
export const mailAddressIn = (text: string): string | undefined => /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/.exec(text)?.[0]
