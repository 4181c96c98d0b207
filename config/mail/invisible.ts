/** Invisible characters, by their Unicode properties. People paste them with addresses and numbers. Browsers run this code too. */

/** Blanks of all kinds. */
const blank = /\p{Z}/u
/** Format characters, such as soft hyphens, and characters without a glyph, such as variation selectors. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const unseenRuns = new RegExp(unseen.source, 'gu')

/** Returns whether the text has a blank or an invisible character. */
export const isInvisible = (text: string): boolean => blank.test(text) || unseen.test(text)

/** Returns the first of these characters; undefined without one. */
export const invisibleIn = (text: string): string | undefined => Array.from(text).find((character) => isInvisible(character))

/** Removes blanks, line breaks and invisible characters at both ends, in linear time. */
export function trimInvisible(text: string): string {
  if (/^[!-~](?:[^]*[!-~])?$/.test(text)) return text
  const characters = Array.from(text)
  const isLeft = (character: string): boolean => character.trim() !== '' && !isInvisible(character)
  const first = characters.findIndex(isLeft)
  return first < 0 ? '' : characters.slice(first, characters.findLastIndex(isLeft) + 1).join('')
}

/** Returns the text without invisible characters and with plain blanks. */
export const asSeen = (text: string): string => text.replaceAll(unseenRuns, '').replaceAll(/\p{Z}/gu, ' ')
