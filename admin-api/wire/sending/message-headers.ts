/** Header fields that REST requests may add: all except fields of the message structure and of authentication. */
import * as z from 'zod'
import { fewFields, isOneLine } from '../fields/text.ts'

const maxFields = 50
// RFC 5322 §2.1.1, without CRLF.
const maxLineOctets = 998
const maxName = 76
/** RFC 5322 §3.6.8. */
const fieldName = /^[\u0021-\u0039\u003b-\u007e]+$/

const owned: ReadonlySet<string> = new Set([
  ...['from', 'to', 'cc', 'bcc', 'subject', 'date', 'message-id', 'reply-to', 'sender', 'return-path', 'received', 'mime-version'],
  ...['dkim-signature', 'domainkey-signature', 'authentication-results', 'received-spf', 'delivered-to', 'apparently-to', 'x-trace-id'],
])
const ownedFamilies = ['content-', 'resent-', 'arc-', 'x-postern-'] as const

/**
 * Fields with instructions for providers that could add recipients. Limits and suppressions would not apply to such recipients.
 */
const orders: ReadonlySet<string> = new Set(['x-smtpapi', 'x-msys-api', 'x-mc-bccaddress'])

/** A record `{name: value}`, parsed to a list in the same order. */
export const messageHeaders = z
  .preprocess(fewFields(maxFields), z.record(z.string(), z.string().max(maxLineOctets)))
  .transform((given, context) => {
    const fields = Object.entries(given).map(([name, value]) => ({ name, value: value.trim() }))
    const seen = new Set<string>()
    for (const { name, value } of fields) {
      const folded = name.toLowerCase()
      const message = seen.has(folded) ? 'appears twice, with different case' : fault(name, value)
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
      seen.add(folded)
    }
    return fields
  })
  .meta({ description: `At most ${maxFields} fields. Fields that the service sets itself are refused.` })

function fault(name: string, value: string): string | undefined {
  const folded = name.toLowerCase()
  if (!fieldName.test(name)) return 'is not a valid header field name'
  if (name.length > maxName) return `is too long for a header field name: at most ${maxName} characters`
  if (owned.has(folded)) return 'is set by the service; use the field of the request, or leave it out'
  if (orders.has(folded)) return 'can add recipients at a provider; use to, cc and bcc, and leave it out'
  if (ownedFamilies.some((family) => folded.startsWith(family))) return 'is set by the service; leave it out'
  if (!isOneLine(value)) return 'must be on one line, without control characters'
  return name.length + 2 + value.length > maxLineOctets ? `is too long: at most ${maxLineOctets} characters with its name` : undefined
}
