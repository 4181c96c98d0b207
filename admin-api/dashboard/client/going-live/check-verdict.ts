/** Verdict on the evidence of a destination: its heading, and the change that helps. Pure. */
import type { Destination, DestinationEvidence } from '../wire/api.d.ts'

type Step = DestinationEvidence['probe']['steps'][number]

export type CheckVerdict =
  | { readonly says: 'works'; readonly toImprove: number }
  /** A required record of a sending domain is missing. */
  | { readonly says: 'spam'; readonly domain: string; readonly record: string }
  | { readonly says: 'refused'; readonly reply: string }
  | { readonly says: 'silent'; readonly host: string; readonly port: number; readonly tryPort: number }
  | { readonly says: 'certificate'; readonly host: string; readonly found: string }
  | { readonly says: 'failed'; readonly detail: string }

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).replace(/>\s*$/, '')

export function checkVerdict(destination: Destination, steps: readonly Step[], domains: DestinationEvidence['domains']): CheckVerdict {
  const failed = steps.find(({ ok }) => !ok)
  if (failed) return failureOf(destination, failed)
  const own = destination.from === null ? undefined : domains.find(({ domain }) => domain === domainOf(destination.from ?? ''))
  const [checked] = own ? [own] : domains
  const missing = checked?.records.find(({ required, verdict }) => required && verdict === 'missing')
  if (checked && missing) return { says: 'spam', domain: checked.domain, record: missing.purpose.toUpperCase() }
  const toImprove = checked?.records.filter(({ verdict }) => verdict !== 'ok' && verdict !== null).length ?? 0
  return { says: 'works', toImprove }
}

function failureOf({ credentials }: Destination, { step, code, detail, reply, certificate_names: names }: Step): CheckVerdict {
  const { host, port } = credentials as { readonly host?: string; readonly port?: number }
  if (step === 'auth' && code === 'auth_failed') return { says: 'refused', reply: reply ?? detail }
  if (host === undefined || port === undefined) return { says: 'failed', detail }
  const found = names?.find((name) => name !== host)
  if (code === 'tls_verification_failed' && found !== undefined) return { says: 'certificate', host, found }
  const isSilent = step === 'connect' || code === 'greeting_timeout' || code === 'aborted'
  return isSilent ? { says: 'silent', host, port, tryPort: port === 465 ? 587 : 465 } : { says: 'failed', detail }
}
