/** Text of others in parts: what people see, and characters that they do not see. */

export interface TextPart {
  /** Empty for a character that is not seen. */
  readonly text: string
  /** The number of a character that is not seen, such as `U+202E`. */
  readonly code?: string
}

/** Joiners inside emoji, and inside words of scripts that are written with them. */
const joiner =
  /(?<=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Inherited}])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)[\u200c\u200d](?=[\p{L}\p{M}\p{Extended_Pictographic}])/u
/** One selector of the form of an emoji, a symbol or a character of a script with such forms. */
const selector =
  /(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=[\p{S}\p{Script=Han}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Phags_Pa}])\p{Variation_Selector}/u
/** Controls, and all other characters that show nothing. */
const unseen = /(?![\t\n\r])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u

/** `seen` matches characters that would be unseen elsewhere. */
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
