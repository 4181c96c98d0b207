/** Splits untrusted text into visible text and invisible characters. */

export interface TextPart {
  /** Empty for an invisible character. */
  readonly text: string
  /** Code point of an invisible character, such as `U+202E`. */
  readonly code?: string
}

/** Joiners within emoji, and within words of scripts that use joiners. */
const joiner =
  /(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)[\u200c\u200d](?=[\p{L}\p{M}\p{Extended_Pictographic}])/u
/** A variation selector after an emoji, a symbol or a character of a script with variants. */
const selector =
  /(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=[\p{S}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Phags_Pa}])\p{Variation_Selector}/u
/** Control characters and all other characters without a visible form. */
const unseen = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u

/** `seen` matches joiners and selectors in a valid context. */
const pattern = new RegExp(`(?<seen>${joiner.source}|${selector.source})|${unseen.source}`, 'gu')

export function textParts(text: string): TextPart[] {
  const found: TextPart[] = []
  let end = 0
  for (const { 0: character, index, groups } of text.matchAll(pattern)) {
    if (groups?.['seen'] !== undefined) continue
    if (index > end) found.push({ text: text.slice(end, index) })
    found.push({ text: '', code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}` })
    end = index + character.length
  }
  if (end < text.length) found.push({ text: text.slice(end) })
  return found
}
