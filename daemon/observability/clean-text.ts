/** Text that others chose, made fit for a line of a log and for a terminal: it neither steers nor forges what is shown around it. */

const controls = /[\p{Cc}\p{Zl}\p{Zp}]+/gu
/**
 * Characters that show nothing themselves, and change how other text is shown or read: marks of direction, blanks without width, fillers,
 * tags and annotations. The joiners U+200C and U+200D and variation selectors stay, as scripts and emoji are written with them.
 */
const unseen = /(?![\u200c\u200d\p{Variation_Selector}])[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu
const plain = /^[\x20-\x7e]*$/
const maxText = 2000

/** One line of text for logs and pages: control characters replaced, unseen ones as `<U+202E>`, and cut after 2000 characters. */
export function cleanText(text: unknown): string {
  const line = String(text)
  const cut = line.length > maxText ? `${line.slice(0, maxText)}… (${line.length} characters)` : line
  return plain.test(cut) ? cut : cut.replaceAll(controls, '\u{fffd}').replaceAll(unseen, named)
}

const named = (character: string): string => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`

/** A text of JSON with the same meaning, in which such characters are escaped (RFC 8259 §7). */
export const cleanJson = (json: string): string => json.replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escaped).replaceAll(unseen, escaped)

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** From the begin of a word, so that a long text is read once. */
const address = /(?:"[^"]*"|(?<![^\s<>"'(),;:[\]])[^\s<>"'(),;:[\]]+)@(?=[^\s<>"'(),;:[\]])/g

/** Text of others without addresses of people: the domain stays. */
export const withoutAddresses = (text: string): string => text.replaceAll(address, '***@')
