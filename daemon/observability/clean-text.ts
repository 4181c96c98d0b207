/** Cleans untrusted text for log lines and terminals, so that it can neither control the output nor imitate other lines. */

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/**
 * Invisible characters that change how other text is displayed: direction marks, zero-width spaces, fillers, tags and annotations. The
 * joiners U+200C and U+200D and variation selectors are kept, because scripts and emoji need them.
 */
const unseen = /(?![\u200c\u200d\p{Variation_Selector}])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
const plain = /^[\x20-\x7e]*$/
const maxText = 2000

/** Returns one line of text: control characters replaced, invisible ones as `<U+202E>`, cut after 2000 characters. */
export function cleanText(text: unknown): string {
  const line = String(text)
  const cut = line.length > maxText ? `${line.slice(0, maxText)}… (${line.length} characters)` : line
  return plain.test(cut) ? cut : cut.replaceAll(controls, '\u{fffd}').replaceAll(unseen, named)
}

const named = (character: string): string => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** Returns JSON with the same meaning, with such characters escaped (RFC 8259 §7). */
export const cleanJson = (json: string): string => json.replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escaped).replaceAll(unseen, escaped)

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** Starts only at the start of a word, so that a long text is scanned once. */
const address = /(?:"[^"]*"|(?<![^\s<>"'(),;:[\]])[^\s<>"'(),;:[\]]+)@(?=[^\s<>"'(),;:[\]])/g

/** Removes the local part of mail addresses from untrusted text and keeps the domain. */
export const withoutAddresses = (text: string): string => text.replaceAll(address, '***@')
