/** Characters that are made to deceive: letters of several scripts in one word, marks, and what cannot be seen. */

const scripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Hebrew', 'Arabic', 'Cherokee'] as const
const tests = scripts.map((name) => new RegExp(String.raw`\p{Script=${name}}`, 'u'))

/** Whether one word has letters of scripts that do not go together (UTS 39: highly restrictive). */
export const hasMixedScripts = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}]+/u).some((word) => tests.filter((script) => script.test(word)).length > 1)

/** Control and zero-width characters; joiners between emoji and letters of scripts that need them are none. */
export const hasInvisible = (text: string): boolean =>
  /[\p{Cc}\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/u.test(text) || text.includes(graphemeJoiner)

const graphemeJoiner = '\u034f'

export const emojiIn = (text: string): number =>
  [...text.matchAll(/\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic})*/gu)].length

/** Marks with which names pretend to be verified. */
export const hasCheckMark = (text: string): boolean => /[\u2611\u2705\u2713\u2714\u{1f5f8}\u2122\u00ae\u{1f6e1}\u{1f535}]/u.test(text)
