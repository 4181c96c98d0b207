/** Checks the size of a message, and reports it in terms that the caller can change: the message or its files. */
import { Refusal } from '../../refusals.ts'
import type { Attachment } from './attachments.ts'
import { octetsWithin } from './base64.ts'

const setting = 'POSTERN_SUBMISSION_MAX_MESSAGE_BYTES'

/**
 * Throws `request_too_large` for a message of more than `maxMessageBytes` octets. If smaller files would fit, the refusal states their size
 * and limit.
 */
export function assertFits(size: number, maxMessageBytes: number, files: readonly Pick<Attachment, 'content'>[]): void {
  if (size <= maxMessageBytes) return
  const encoded = files.reduce((sum, { content }) => sum + content.encodedSize, 0)
  const maxFiles = octetsWithin(maxMessageBytes - (size - encoded), files.length)
  if (files.length === 0 || maxFiles <= 0) {
    const message = `The message has ${size} bytes; at most ${maxMessageBytes} are allowed. Send less, or link to large files.`
    throw new Refusal('request_too_large', message, { details: { message_bytes: size, message_bytes_max: maxMessageBytes } })
  }
  const given = files.reduce((sum, { content }) => sum + content.size, 0)
  throw new Refusal(
    'request_too_large',
    `The attachments have ${inWords(given)}; at most ${inWords(maxFiles)} fit next to the text, as base64 makes them larger by 37 % ` +
      `and a message may have ${inWords(maxMessageBytes)}. Link to large files; the operator sets the size of messages (${setting}).`,
    { details: { attachment_bytes: given, attachment_bytes_max: maxFiles, message_bytes_max: maxMessageBytes, setting } },
  )
}

const inWords = (octets: number): string => `${octets} bytes (${(octets / 1e6).toFixed(1)} MB)`
