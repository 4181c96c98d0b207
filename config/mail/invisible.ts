/** Characters that are not seen, by their Unicode properties, as people paste them with addresses and numbers. Browsers run it too. */

/** Blanks of all kinds. */
const blank = /\p{Z}/u
/** Format characters, such as soft hyphens, and characters without a glyph, such as variation selectors. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const unseenRuns = new RegExp(unseen.source, 'gu')

/** The text has a blank or a character that is not seen. */
export const isInvisible = (text: string): boolean => blank.test(text) || unseen.test(text)

/** The first of these characters; undefined when all is seen. */
export const invisibleIn = (text: string): string | undefined => Array.from(text).find((character) => isInvisible(character))

/** The text without blanks, line breaks and unseen characters around it. Linear in its length. */
export function trimInvisible(text: string): string {
  if (/^[!-~](?:[^]*[!-~])?$/.test(text)) return text
  const characters = Array.from(text)
  const isLeft = (character: string): boolean => character.trim() !== '' && !isInvisible(character)
  const first = characters.findIndex(isLeft)
  return first < 0 ? '' : characters.slice(first, characters.findLastIndex(isLeft) + 1).join('')
}

/** The text as it is seen: without unseen characters, and with plain blanks in place of others. */
export const asSeen = (text: string): string => text.replaceAll(unseenRuns, '').replaceAll(/\p{Z}/gu, ' ')
