/** Finds every address that occurs in header fields and bodies (Spec "Captured message", `addresses_seen`), in linear time. */
import { domainToASCII } from 'node:url'

const maxSeen = 1000
const maxLocal = 64
const maxDomain = 253
const maxAddress = 254

const localCharacter = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.\p{L}\p{M}\p{N}]$/u
const domainCharacter = /^[A-Za-z0-9\-._\p{L}\p{M}\p{N}]$/u
const domainLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const addressFields = new Set([
  ...['from', 'sender', 'reply-to', 'to', 'cc', 'bcc', 'return-path', 'delivered-to', 'envelope-to', 'apparently-to'],
  ...['x-original-to', 'x-envelope-to', 'x-envelope-from', 'x-rcpt-to', 'errors-to', 'mail-followup-to', 'mail-reply-to'],
  ...['disposition-notification-to', 'return-receipt-to'],
])
const resentFields = /^resent-(?:from|sender|to|cc|bcc|reply-to)$/

/** Collects the addresses of one message, up to 1,000 different addresses. */
export class AddressesSeen {
  readonly #found = new Set<string>()

  /** Scans an address field; ignores other fields. `value` is unfolded and decoded. */
  addField(name: string, value: string): void {
    const folded = name.toLowerCase()
    if (addressFields.has(folded) || resentFields.test(folded)) this.#scan(value, headerCandidates)
  }

  /** Scans text or HTML source, including addresses in links whose at sign is written as `%40`. */
  addBody(text: string): void {
    this.#scan(text, bodyCandidates)
    if (text.includes('%40')) this.#scan(text.replaceAll('%40', '@'), bodyCandidates)
  }

  /** The addresses in lower case, domains as A-labels, sorted, without duplicates. */
  sorted(): string[] {
    return [...this.#found].toSorted()
  }

  #scan(text: string, candidates: (local: string, domain: string) => Iterable<readonly [string, string]>): void {
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const before = localBefore(text, at)
      // a content ID (RFC 2392) looks like an address
      if (/(?:^|[^a-z])cid:$/i.test(text.slice(Math.max(at - before.length - 5, 0), at - before.length))) continue
      for (const [local, domain] of candidates(before, domainAfter(text, at))) {
        if (this.#found.size >= maxSeen) return
        const address = normalized(local, domain)
        if (address !== undefined) this.#found.add(address)
      }
    }
  }
}

/** The characters before the at sign that can be part of a local part, at most one more than its maximum length. */
function localBefore(text: string, at: number): string {
  let start = at
  while (start > 0 && at - start <= maxLocal && localCharacter.test(text[start - 1] ?? '')) start -= 1
  return text.slice(start, at)
}

function domainAfter(text: string, at: number): string {
  let end = at + 1
  while (end < text.length && end - at <= maxDomain + 1 && domainCharacter.test(text[end] ?? '')) end += 1
  return text.slice(at + 1, end)
}

function* headerCandidates(local: string, domain: string): Iterable<readonly [string, string]> {
  yield [local.replace(/^'+/, ''), domain]
}

/**
 * In running text an address may touch a path, a query string, quotation marks, or letters of a script without spaces. If its extent is
 * uncertain, the longest and the shortest plausible reading are both returned, since a search must find either.
 */
function* bodyCandidates(local: string, domain: string): Iterable<readonly [string, string]> {
  const cut = lastIndexOf(local, /[/?&#|]/)
  const longest = trimStart(local.slice(cut + 1))
  const tail = trimStart(longest.slice(lastIndexOf(longest, /=|[^\u0020-\u007e]/) + 1))
  const inQuery = local[cut] === '?' || local[cut] === '&'
  const asciiEnd = domain.search(/[^A-Za-z0-9\-._]/)
  const domains = asciiEnd > 0 ? [domain, domain.slice(0, asciiEnd)] : [domain]
  for (const host of domains.map(trimEnd)) {
    if (!host.includes('.') || /^[0-9]+$/.test(host.slice(host.lastIndexOf('.') + 1))) continue
    if (!inQuery || tail === longest) yield [longest, host]
    if (tail !== longest) yield [tail, host]
  }
}

function lastIndexOf(text: string, character: RegExp): number {
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (character.test(text[at] ?? '')) return at
  }
  return -1
}

function trimStart(local: string): string {
  let start = 0
  while (start < local.length && !/[\p{L}\p{M}\p{N}_]/u.test(local[start] ?? '')) start += 1
  return local.slice(start)
}

function trimEnd(domain: string): string {
  let end = domain.length
  while (end > 0 && /[-._]/.test(domain[end - 1] ?? '')) end -= 1
  return domain.slice(0, end)
}

function normalized(local: string, domain: string): string | undefined {
  const host = trimEnd(domain)
  if (local === '' || host === '' || Buffer.byteLength(local) > maxLocal) return undefined
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..')) return undefined
  const ascii = /^[A-Za-z0-9._-]+$/.test(host) ? host.toLowerCase() : domainToASCII(host)
  if (ascii.length === 0 || ascii.length > maxDomain || /^[0-9.]+$/.test(ascii)) return undefined
  if (!ascii.split('.').every((label) => domainLabel.test(label))) return undefined
  const address = `${local.toLowerCase()}@${ascii}`
  return Buffer.byteLength(address) <= maxAddress ? address : undefined
}
