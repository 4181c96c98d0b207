/** Converts refusals to SMTP replies (RFC 5321 §4.2) with enhanced codes (RFC 2034, RFC 3463). */
import { Refusal, refusals } from '#core/refusals.ts'
import { storeRefusal } from '#core/writes/store-refusal.ts'

// RFC 5321 §4.5.3.1.5 allows 512 octets for the whole line.
const maxTextOctets = 450

/** Reply with code 400 or above. smtp-server sends `responseCode` and `message`, so `message` starts with the enhanced code. */
export class NegativeReply extends Error {
  override readonly name = 'NegativeReply'
  readonly responseCode: number
  readonly enhanced: string
  readonly text: string

  constructor(responseCode: number, enhanced: string, text: string) {
    const line = oneLine(text)
    super(`${enhanced} ${line}`)
    this.responseCode = responseCode
    this.enhanced = enhanced
    this.text = line
  }
}

/** Whether a thrown value is an expected refusal and not a defect. */
export const isExpected = (thrown: unknown): boolean => thrown instanceof Refusal || thrown instanceof NegativeReply

/** Returns the reply for any thrown value. A defect becomes `451 4.3.0` without its cause. */
export function toSmtpReply(thrown: unknown): NegativeReply {
  if (thrown instanceof NegativeReply) return thrown
  const refusal = thrown instanceof Refusal ? thrown : storeRefusal(thrown)
  if (!refusal) return new NegativeReply(451, '4.3.0', 'An internal error occurred; please try again later.')
  const [code = '', enhanced = ''] = refusals[refusal.code].smtp.split(' ')
  return new NegativeReply(Number(code), enhanced, refusal.message)
}

/** Converts text to printable ASCII, because a client without SMTPUTF8 may not accept other characters (RFC 6531 §3.7.4.1). */
function oneLine(text: string): string {
  const printable = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^\x20-\x7e]/g, '?')
    .trim()
  return printable.length > maxTextOctets ? `${printable.slice(0, maxTextOctets - 3)}...` : printable
}
