/** Helpers for vendors: JSON requests and mailboxes, and verdicts by status. */
import type { NamedAddress, VendorAnswer, VendorRequest, VendorVerdict } from './vendor.ts'

/** Longest wait accepted from an answer, in seconds (one day), so that a wrong header cannot stop mail for good. */
const maxRetryAfter = 86_400

export const postJson = (url: string, headers: Readonly<Record<string, string>>, body: unknown): VendorRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
})

/** Returns a mailbox as text, for vendors that parse it like a header field (RFC 5322 §3.4). */
export const mailboxText = ({ name, address }: NamedAddress): string =>
  name === '' ? address : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>`

/** Returns the JSON object of an answer, or an empty object without one. */
export function jsonOf({ text }: VendorAnswer): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Returns a JSON value if it is a non-empty string. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

type Refused = Exclude<VendorVerdict, { readonly kind: 'accepted' }>

/** Returns the verdict for the status of a failed answer, unless the vendor's code is more specific. */
export function verdictByStatus(
  answer: VendorAnswer,
  details: { readonly code?: string | undefined; readonly message?: string | undefined } = {},
): Refused {
  const { status } = answer
  const code = details.code ?? String(status)
  const message = details.message ?? `The provider answered with status ${status}.`
  return { kind: kindOf(status), code, message, retryAfterSeconds: retryAfter(answer) }
}

function kindOf(status: number): Refused['kind'] {
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'transient'
  // Wrong keys, unpaid bills, and unknown paths or locations: settings that a person can correct while the mail waits.
  if ([401, 402, 403, 404, 405, 407].includes(status) || status < 400) return 'misconfigured'
  return 'permanent'
}

/** Returns Retry-After in seconds (RFC 9110 §10.2.3); undefined without a valid value. */
function retryAfter({ headers }: VendorAnswer): number | undefined {
  const value = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,12}$/.test(value)) return Math.min(Number(value), maxRetryAfter)
  const date = Date.parse(value)
  const answered = Date.parse(headers['date'] ?? '')
  // Both times are from the provider's clock, so our clock does not matter.
  if (Number.isNaN(date) || Number.isNaN(answered)) return undefined
  return Math.min(Math.max(0, Math.ceil((date - answered) / 1000)), maxRetryAfter)
}

/** Returns the objects of a JSON list; empty for other values. */
export const objectsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null) : []

/** Returns the texts that look like mail addresses. */
export const addressesIn = (details: string): readonly string[] => details.match(/[^\s<>,;:"'()[\]{}\\]+@[^\s<>,;:"'()[\]{}\\]+/g) ?? []
