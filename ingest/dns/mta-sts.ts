/** The MTA-STS policy of a domain, from its well-known address (RFC 8461 §3). */
import type { Fetch } from '#core/outbound/fetch.ts'

/** `none` and `testing` do not require TLS. Senders treat a `broken` policy, which is invalid, like `none`. */
export type PolicyMode = 'enforce' | 'testing' | 'none' | 'broken'

const maxBytes = 64 * 1024

/**
 * Creates a function that fetches the policy of a domain. It rejects unless a policy arrives before the deadline. The requested URL depends
 * only on the domain name.
 */
export const policyFetcher =
  (fetch: Fetch) =>
  async (domain: string, deadlineMs: number): Promise<string> => {
    if (!/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(domain)) throw new Error('no domain has this name')
    const { status, headers, text } = await fetch(`https://mta-sts.${domain}/.well-known/mta-sts.txt`, { deadlineMs, maxBytes })
    if (status !== 200) throw new Error(`the policy was answered with ${status}`)
    if (!/^text\/plain\s*(?:;|$)/i.test(headers['content-type'] ?? '')) throw new Error('the policy is no plain text')
    return text
  }

export function policyMode(text: string): PolicyMode {
  const fields = text
    .slice(0, maxBytes)
    .split(/\r?\n/)
    .map((line) => /^\s*([a-z_]+)\s*:\s*(.*?)\s*$/i.exec(line))
  const valueOf = (name: string): string | undefined => fields.find((field) => field?.[1] === name)?.[2]
  const mode = valueOf('mode')
  const isKnown = mode === 'enforce' || mode === 'testing' || mode === 'none'
  return valueOf('version') === 'STSv1' && isKnown && /^\d{1,10}$/.test(valueOf('max_age') ?? '') ? mode : 'broken'
}
