/** The mark on mail that this service passes on from outside, by which it is known when it comes back. */
import type { SecretBox } from '../access/secret-box.ts'

const purpose = 'service-loop.v1'
const fieldName = 'X-Service-Loop'
/** It need not be hard to guess: who guesses it is only refused. */
const markBytes = 8

const markOf = (secrets: SecretBox): string => secrets.mac(purpose, Buffer.alloc(0)).subarray(0, markBytes).toString('hex')

/** The header field with the mark, with its line end. */
export const loopMarkField = (secrets: SecretBox): string => `${fieldName}: ${markOf(secrets)}\r\n`

/** Whether a header block, each line ended by CRLF, holds our mark. */
export function hasLoopMark(secrets: SecretBox, head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  return new RegExp(String.raw`^${fieldName}[ \t]*:[ \t]*${markOf(secrets)}[ \t]*\r$`, 'im').test(text)
}
