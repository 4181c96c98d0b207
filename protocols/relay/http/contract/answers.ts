/** What vendors share: words of requests in JSON, and reading answers by their status. */
import type { NamedAddress, VendorAnswer, VendorRequest, VendorVerdict } from './vendor.ts'

/** Longest wait that an answer can ask for, a day: a faulty header must not park mail for good. */
const maxRetryAfter = 86_400

export const postJson = (url: string, headers: Readonly<Record<string, string>>, body: unknown): VendorRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
})

/** A mailbox as text, for vendors that read it as in a header field (RFC 5322 §3.4). */
export const mailboxText = ({ name, address }: NamedAddress): string =>
  name === '' ? address : `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}" <${address}>`

/** The JSON object of an answer; empty when it is none. */
export function jsonOf({ text }: VendorAnswer): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** A field of a JSON object when it is text. */
export const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

type Refused = Exclude<VendorVerdict, { readonly kind: 'accepted' }>

/** What a status means where the vendor's own code says nothing more. For answers that are no success. */
export function verdictByStatus(
  answer: VendorAnswer,
  words: { readonly code?: string | undefined; readonly message?: string | undefined } = {},
): Refused {
  const { status } = answer
  const code = words.code ?? String(status)
  const message = words.message ?? `The provider answered with status ${status}.`
  return { kind: kindOf(status), code, message, retryAfterSeconds: retryAfter(answer) }
}

function kindOf(status: number): Refused['kind'] {
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'transient'
  // Wrong keys, unpaid bills, and paths or places that are not there: settings that somebody can put right while the mail waits.
  if ([401, 402, 403, 404, 405, 407].includes(status) || status < 400) return 'misconfigured'
  return 'permanent'
}

/** RFC 9110 §10.2.3, in seconds; undefined when the answer asks for none or in a form that cannot be read. */
function retryAfter({ headers }: VendorAnswer): number | undefined {
  const value = headers['retry-after']?.trim() ?? ''
  if (/^\d{1,12}$/.test(value)) return Math.min(Number(value), maxRetryAfter)
  const date = Date.parse(value)
  const answered = Date.parse(headers['date'] ?? '')
  // Both times are from the provider's clock, so ours does not matter.
  if (Number.isNaN(date) || Number.isNaN(answered)) return undefined
  return Math.min(Math.max(0, Math.ceil((date - answered) / 1000)), maxRetryAfter)
}

/** The objects of a JSON list; none when it is no list. */
export const objectsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((one): one is Record<string, unknown> => typeof one === 'object' && one !== null) : []

/** Everything in a provider's words that looks like a mail address. */
export const addressesIn = (words: string): readonly string[] => words.match(/[^\s<>,;:"'()[\]{}\\]+@[^\s<>,;:"'()[\]{}\\]+/g) ?? []
