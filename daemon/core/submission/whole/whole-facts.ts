/** What stands before a message that came whole when it leaves, and what the core must know of it. */
import { rfc5322Date } from '../compose/compose.ts'
import type { ParsedHeaders } from '../doors/headers.ts'
import type { ContentFacts } from '../submission.ts'

/** How it came. */
export interface Arrival {
  readonly traceId: string
  readonly nowMs: number
  /** Our name in Received. */
  readonly hostname: string
  /** RFC 5321 §4.4: from whom, where the protocol says so, and by which protocol. */
  readonly from?: string | undefined
  readonly protocol: 'ESMTPA' | 'ESMTPSA' | 'HTTP'
  readonly eightBit: boolean
  readonly smtpUtf8?: boolean | undefined
}

/** With a Received field before it, and the fields that every message needs where it lacks them (RFC 6409 §8). */
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
