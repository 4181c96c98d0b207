/** Queue ids, by which the next host knows a message: as its reply gives them, and as people quote them. */

/** Shorter ones, and those without a digit, could be ordinary words of a reply. */
const lengthMin = 6
const maxLength = 120
const maxText = 2000

/** The forms of an id in a reply: Stalwart writes it hexadecimal there and decimal in its log. Empty for what is none. */
export function queueIdForms(given: string): readonly string[] {
  if (given.length < lengthMin || given.length > maxLength || !/^[\w.+/@=-]*\d[\w.+/@=-]*$/.test(given)) return []
  const folded = given.toLowerCase()
  return /^\d{12,20}$/.test(given) ? [folded, BigInt(given).toString(16)] : [folded]
}

/** Whether the reply names one of the ids. */
export const isQueueIdIn = (reply: string, ids: readonly string[]): boolean =>
  wordsOf(reply).some((word) => ids.includes(word.toLowerCase()))

/** The id that a reply to the whole message gives; undefined when it gives none that can be recognized. */
export function queueIdIn(reply: string): string | undefined {
  const found =
    /(?:queued(?: mail)?(?: for delivery)?(?: as| with id)|accepted as|\bid[=:]?|message[- ]id[=:]?)[ :=]*<?([\w.+/@=-]{6,120})/i.exec(
      reply.slice(0, maxText),
    )?.[1]
  return found?.replace(/\.$/, '')
}

const wordsOf = (reply: string): string[] =>
  reply
    .slice(0, maxText)
    .split(/[\s<>()[\]{};,="':]+/)
    .map((word) => word.replace(/\.$/, ''))
