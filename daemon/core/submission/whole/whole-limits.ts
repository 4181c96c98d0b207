/** Limits of a complete MIME message, for SMTP and requests. */

/** Octets of the header block that the core parses. SMTP stores longer headers without parsing the rest. */
export const maxHeadOctets = 256 * 1024

/** Maximum line length in octets without CRLF. Far over the 998 of RFC 5322 §2.1.1, because clients send such lines. */
export const maxLineOctets = 64 * 1024

/** RFC 5321 §6.3: more Received fields indicate a loop. */
const maxReceivedFields = 50

/** Error texts of the API. */
export const wholeFaults = {
  nul: 'The message holds a NUL octet; encode binary content as base64.',
  line: `The message has a line over ${maxLineOctets} octets; break or encode it.`,
  loop: `The message has more than ${maxReceivedFields} Received fields; it is in a mail loop.`,
} as const

/** Returns true if the header block indicates a loop. */
export function isLooping(head: Buffer): boolean {
  // "Received:x" with its line end has at least 11 octets.
  if (head.length < maxReceivedFields * 11) return false
  return (head.toString('latin1').match(/^received[ \t]*:/gim)?.length ?? 0) > maxReceivedFields
}
