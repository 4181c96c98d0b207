/** The words of a refusal, put into one form that rules can be matched against. Linear in the text, which is cut at 2,000 characters. */

const maxText = 2000
const maxLink = 500

/**
 * The reply on one line, its code in front: without the type of RFC 3464 §2.3.6 (`smtp;`), without the server that a relay names
 * before it, and without the code that each further line of a reply repeats (RFC 5321 §4.2.1).
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
  const words = reply.startsWith(code) ? reply.slice(code.length + 1) : reply
  return `${code} ${withoutRepeats(words, code)}`.trimEnd()
}

/** Takes out the code of each further line, and the enhanced code that goes with it. */
function withoutRepeats(words: string, code: string): string {
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?= )/.exec(words)?.[0]
  const parts = words.split(new RegExp(` ${code}[ -]`))
  return parts
    .map((part, i) => (i > 0 && enhanced !== undefined && part.startsWith(`${enhanced} `) ? part.slice(enhanced.length + 1) : part))
    .join(' ')
}

/** Enhanced codes of failures in the text, in its order; addresses and versions with more parts are none. RFC 3463 §2. */
export const enhancedCodesIn = (text: string): string[] => text.match(/(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/g) ?? []

/** The last web address in the text, as the last line of a reply explains it; also one without a scheme at a postmaster's site. */
export function linkIn(text: string): string | null {
  const found = text.match(/(?:https?:\/\/|(?<![\w./@-])postmaster\.[a-z0-9-]{1,63}\.)[^\s<>"'`\\]{1,500}/gi)?.at(-1)
  if (found === undefined) return null
  const address = found.replace(/[.,;:!?)\]}]{1,10}$/, '')
  const url = URL.parse(/^https?:/i.test(address) ? address : `https://${address}`)
  return url && url.username === '' && url.password === '' && url.href.length <= maxLink ? url.href : null
}

/** The first mail address in the text. */
export const mailAddressIn = (text: string): string | undefined => /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/.exec(text)?.[0]
