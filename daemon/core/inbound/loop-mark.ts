/** A mark on mail that this service stores or forwards, to detect mail loops. */
import type { SecretBox } from '../access/secret-box.ts'

const purpose = 'service-loop.v1'
const fieldName = 'X-Service-Loop'
/** Short, because a guessed mark only refuses the guesser's mail. */
const markBytes = 8

const markOf = (secrets: SecretBox): string => secrets.mac(purpose, Buffer.alloc(0)).subarray(0, markBytes).toString('hex')

/** Returns the header field with the mark and its line end. */
export const loopMarkField = (secrets: SecretBox): string => `${fieldName}: ${markOf(secrets)}\r\n`

/** Whether a header block with CRLF line ends contains our mark. */
export function hasLoopMark(secrets: SecretBox, head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  return new RegExp(String.raw`^${fieldName}[ \t]*:[ \t]*${markOf(secrets)}[ \t]*\r$`, 'im').test(text)
}
