/** The policy by which a domain asks for encrypted mail, from the one place where it may stand (RFC 8461 §3). */
import type { Fetch } from '#core/outbound/fetch.ts'

/** `none` and `testing` ask for nothing; `broken` cannot be read, so that senders take it for none. */
export type PolicyMode = 'enforce' | 'testing' | 'none' | 'broken'

const maxBytes = 64 * 1024

/** Rejects when there is no policy within the deadline. It is the name of the domain alone that decides what is fetched. */
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
