/** Finds host names in the text of a link, as people read them. */
import { isRealHost, isReservedHost, plainDomain } from '../dns/domains.ts'

const maxText = 2000

/**
 * Returns the hosts of all web addresses in a text, as A-labels. In a text of several words, mail addresses and file names do not count.
 */
export function shownHosts(text: string): string[] {
  const words = text.slice(0, maxText).trim().split(/\s+/)
  if (words.length === 1) return words.flatMap((word) => shownHost(word) ?? [])
  return words
    .map((word) => word.replaceAll(/^[("'«„“]+|[)"'»“”.,;:!?]+$/gu, ''))
    .flatMap((word) => (isPlainWord(word) ? [] : (shownHost(word) ?? [])))
}

/** Top-level domains that are also file extensions, as in `README.md`. */
const fileEndings = /\.(?:app|cc|com\.txt|md|mov|pl|ps|py|rs|sh|so|zip)$/i

/** True for a mail address or a possible file name. Such a word is not a web address. */
const isPlainWord = (word: string): boolean => !/^(?:https?:\/\/|www\.)/i.test(word) && (word.includes('@') || fileEndings.test(word))

/** Returns the host of a word that is a web address; otherwise undefined. */
function shownHost(trimmed: string): string | undefined {
  const { scheme, host, rest } = shownAddress.exec(trimmed)?.groups ?? {}
  if (host === undefined) return undefined
  const plain = plainDomain(host)
  // `Node.js` and `12.50/kg` are words; `https://node.js/`, `www.node.js` and `node.js/x` are addresses
  const isAddress = scheme !== undefined || plain.startsWith('www.') || (/^[/:?#]/.test(rest ?? '') && /\.[^.\d]{2,}$/.test(plain))
  return isAddress || isRealHost(plain) || isReservedHost(plain) ? plain : undefined
}

const shownAddress =
  /^(?<scheme>https?:\/\/)?(?:[^\s/@]{1,64}@)?(?<host>(?:[\p{L}\p{N}_-]{1,63}\.){1,8}[\p{L}\p{N}-]{1,63})(?<rest>[/:?#].*|\.?)$/iu
