/** What a message that comes whole may hold, whatever brings it. */

/** How much of a header block is shown to the core; over SMTP more is stored, but not looked at. */
export const maxHeadOctets = 256 * 1024

/** The longest line that is taken, in octets without its CRLF: far over the 998 of RFC 5322 §2.1.1, as clients send such. */
export const maxLineOctets = 64 * 1024

/** RFC 5321 §6.3: more Received fields than this mean a loop. */
const maxReceivedFields = 50

/** In words for whoever sends it, and in those of SMTP. */
export const wholeFaults = {
  nul: 'The message holds a NUL octet; encode binary content as base64.',
  line: `The message has a line over ${maxLineOctets} octets; break or encode it.`,
  loop: `The message has more than ${maxReceivedFields} Received fields; it is going in circles.`,
} as const

/** Whether the header block says that the message is going in circles. */
export function isLooping(head: Buffer): boolean {
  // "Received:x" with its line end is at least 11 octets.
  if (head.length < maxReceivedFields * 11) return false
  return (head.toString('latin1').match(/^received[ \t]*:/gim)?.length ?? 0) > maxReceivedFields
}
