/** Characters that are made to deceive: letters of several scripts in one word, letters that look like others, and what cannot be seen. */
import { domainToUnicode } from 'node:url'

const scripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Hebrew', 'Arabic', 'Cherokee'] as const
const tests = scripts.map((name) => new RegExp(String.raw`\p{Script=${name}}`, 'u'))

/** Whether one word has letters of scripts that do not go together (UTS 39: highly restrictive). */
export const hasMixedScripts = (text: string): boolean =>
  text.split(/[^\p{L}\p{M}]+/u).some((word) => tests.filter((script) => script.test(word)).length > 1)

/** Letters of other scripts beside the Latin letters that they look like (UTS 39, confusables): those that make up whole words. */
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
 * What a domain reads like if it is written to be taken for another one; undefined for other domains. A name of it mixes scripts, or has
 * only letters of another script that look like Latin ones, below a top-level domain in ASCII (UTS 39: whole-script confusables).
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

/** Whether the text has control or zero-width characters. Emoji and some scripts need joiners, variation selectors and tags. */
export const hasInvisible = (text: string): boolean =>
  /(?![\u200c\u200d\p{Variation_Selector}\u{e0020}-\u{e007f}])[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text)

export const emojiIn = (text: string): number =>
  [...text.matchAll(/\p{Extended_Pictographic}(?:\ufe0f|\u200d\p{Extended_Pictographic})*/gu)].length

/** Marks with which names pretend to be verified. */
export const hasCheckMark = (text: string): boolean => /[\u2611\u2705\u2713\u2714\u{1f5f8}\u2122\u00ae\u{1f6e1}\u{1f535}]/u.test(text)
