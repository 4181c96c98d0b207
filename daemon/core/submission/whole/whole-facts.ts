/** Trace headers and facts of a message that arrives as complete MIME. */
import { rfc5322Date } from '../compose/compose.ts'
import type { ParsedHeaders } from '../doors/headers.ts'
import type { ContentFacts } from '../submission.ts'

/** How and when the message arrived. */
export interface Arrival {
  readonly traceId: string
  readonly nowMs: number
  /** Host name for Received fields. */
  readonly hostname: string
  /** RFC 5321 §4.4: the client, if the protocol names it, and the protocol. */
  readonly from?: string | undefined
  readonly protocol: 'ESMTPA' | 'ESMTPSA' | 'HTTP'
  readonly eightBit: boolean
  readonly smtpUtf8?: boolean | undefined
}

/** Returns the facts, with a Received field and the missing mandatory fields as prefix (RFC 6409 §8). */
export function wholeFacts(parsed: ParsedHeaders, arrival: Arrival): ContentFacts {
  const { traceId, nowMs, hostname, from, protocol, eightBit, smtpUtf8 } = arrival
  const date = rfc5322Date(nowMs)
  const client = from === undefined ? '' : `from ${from.replaceAll(/[^\w.:[\]-]/g, '?').slice(0, 255) || 'unknown'}\r\n\t`
  const received = `Received: ${client}by ${hostname} (Postern) with ${protocol} id ${traceId};\r\n\t${date}\r\n`
  const messageId = parsed.messageId || `${traceId}@${hostname}`
  const missing = (parsed.messageId ? '' : `Message-ID: <${messageId}>\r\n`) + (parsed.hasDate ? '' : `Date: ${date}\r\n`)
  const { subject, from: headerFrom, addresses, hasAttachment } = parsed
  return {
    ...{ prefix: received + missing, subject, messageId, headerFrom, headerAddresses: addresses, hasAttachment },
    ...{ eightBit, smtpUtf8 },
  }
}
