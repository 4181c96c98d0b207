/** Finds queue ids of the next host in its replies and in requests. */

/** Minimum length of an id. Shorter words, and words without a digit, could be ordinary words of a reply. */
const lengthMin = 6
const maxLength = 120
const maxText = 2000

/**
 * Returns the forms of an id in replies; empty for text that is not a queue id. Stalwart writes ids in hexadecimal in replies and in
 * decimal in its log.
 */
export function queueIdForms(given: string): readonly string[] {
  if (given.length < lengthMin || given.length > maxLength || !/^[\w.+/@=-]*\d[\w.+/@=-]*$/.test(given)) return []
  const folded = given.toLowerCase()
  return /^\d{12,20}$/.test(given) ? [folded, BigInt(given).toString(16)] : [folded]
}

/** Whether the reply contains one of the ids. */
export const isQueueIdIn = (reply: string, ids: readonly string[]): boolean =>
  wordsOf(reply).some((word) => ids.includes(word.toLowerCase()))

/** Returns the queue id in a reply to the message; undefined without a recognizable id. */
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
