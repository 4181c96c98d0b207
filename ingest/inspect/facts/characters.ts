/** Deceptive characters: mixed scripts in one word, lookalike letters, and invisible characters. */
import { domainToUnicode } from 'node:url'

const scripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Hebrew', 'Arabic', 'Cherokee'] as const
const tests = scripts.map((name) => new RegExp(String.raw`\p{Script=${name}}`, 'u'))

/** Reports whether a word mixes scripts (UTS 39, highly restrictive). */
export const hasMixedScripts = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}]+/u).some((word) => tests.filter((script) => script.test(word)).length > 1)

/** Non-Latin letters with the Latin letters that they resemble (UTS 39, confusables), limited to letters that form whole words. */
const twins =
  'аa вb сc ԁd еe һh іi јj кk ӏl мm оo рp ԛq гr ѕs тt υu ѵv ԝw хx уy αa βb еe ηn ιi κk νv οo ρp τt υu χx γy ωw ո' +
  'n սu օo ցg հh յj ӧo ґr ѐe ёe їi'
const latinTwin: ReadonlyMap<string, string> = new Map(
  twins.split(' ').map((pair) => {
    const [letter = '', latin = ''] = pair
    return [letter, latin]
  }),
)

/**
 * The Latin reading of a domain that imitates another domain, or undefined. A label of such a domain mixes scripts, or consists only of
 * letters that resemble Latin letters. The top-level domain is ASCII (UTS 39, whole-script confusables).
 */
export function readsLike(domain: string): string | undefined {
  const shown = domainToUnicode(domain.toLowerCase())
  const names = shown.split('.')
  if (!/^[a-z0-9-]+$/.test(names.at(-1) ?? '') || /^[\0-\x7f]*$/.test(shown)) return undefined
  const isDisguised = (name: string): boolean => hasMixedScripts(name) || isAllTwins(name)
  return names.some(isDisguised) ? [...shown].map((letter) => latinTwin.get(letter) ?? letter).join('') : undefined
}

const isAllTwins = (name: string): boolean => {
  const letters = [...name].filter((letter) => /\p{L}/u.test(letter))
  return letters.some((letter) => letter > '\x7f') && letters.every((letter) => latinTwin.has(letter))
}

/**
 * Reports whether the text contains control or zero-width characters. Joiners, variation selectors and tags are permitted, because emoji
 * and some scripts need them.
 */
export const hasInvisible = (text: string): boolean =>
  /(?![\u200c\u200d\p{Variation_Selector}\u{e0020}-\u{e007f}])[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text)

export const emojiIn = (text: string): number =>
  [...text.matchAll(/\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic})*/gu)].length

/** Detects marks that make a name look verified. */
export const hasCheckMark = (text: string): boolean => /[\u2611\u2705\u2713\u2714\u{1f5f8}\u2122\u00ae\u{1f6e1}\u{1f535}]/u.test(text)
