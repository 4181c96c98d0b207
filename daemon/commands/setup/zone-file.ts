/** The DNS records to publish, as a zone file (RFC 1035 §5.1). Pure. */

/** A record of a sending domain as the REST API lists it. */
export interface ListedRecord {
  readonly purpose: string
  readonly type: string
  readonly name: string
  readonly expected: string
  readonly verdict: string | null
}

export interface ZoneFacts {
  readonly domain: string
  readonly host: string
  /** Address for TLS reports. */
  readonly email: string
  /** Public addresses of this machine. */
  readonly addresses: readonly string[]
  readonly records: readonly ListedRecord[]
  /** Domain for bounces; null for none. */
  readonly bounceDomain: string | null
}

/** Maximum length of a string in a TXT record. */
const maxString = 255

export function zoneFile({ domain, host, email, addresses, records, bounceDomain }: ZoneFacts): string {
  const lines = [`; DNS records of ${domain}. Paste them into the zone, or enter each record.`, `$ORIGIN ${domain}.`, '$TTL 3600', '']
  for (const record of records) lines.push(...linesOf(record, domain))
  if (bounceDomain !== null)
    lines.push(
      '; TLS reports of other servers (RFC 8460).',
      entry(`_smtp._tls.${bounceDomain}`, domain, 'TXT', quoted(`v=TLSRPTv1; rua=mailto:${email}`)),
    )
  lines.push('', `; The name of this machine${isWithin(host, domain) ? '' : `, in the zone of ${host}`}.`)
  if (addresses.length === 0) lines.push(`; ${entry(host, domain, 'A', '<the public address of this machine>')}`)
  for (const address of addresses) lines.push(entry(host, domain, address.includes(':') ? 'AAAA' : 'A', address))
  lines.push("; Limits certificates of this name to one authority (RFC 8659). Remove the semicolon if you use Let's Encrypt.")
  lines.push(`; ${entry(host, domain, 'CAA', '0 issue "letsencrypt.org"')}`)
  return `${lines.join('\n')}\n`
}

/** Returns the sentence about the PTR record, which only the provider of the IP addresses can set. */
export const reverseSentence = (addresses: readonly string[], host: string): string =>
  addresses.length === 0
    ? `Ask your hosting provider to set the reverse DNS name (PTR) of the public address of this machine to ${host}.`
    : `Ask your hosting provider to set the reverse DNS name (PTR) of ${addresses.join(' and ')} to ${host}.`

const purposeTexts: Readonly<Record<string, string>> = {
  dkim: 'Public key of the DKIM signatures. Required to verify the domain.',
  spf: 'Servers that may send mail of this domain (SPF).',
  dmarc: 'Policy for mail that passes neither DKIM nor SPF (DMARC).',
  bounce_mx: 'Bounces are sent to this machine.',
  bounce_spf: 'Servers that may send mail with bounces to this machine (SPF).',
}

function linesOf({ purpose, type, name, expected, verdict }: ListedRecord, domain: string): string[] {
  const isThere = verdict === 'ok' ? ' It is published.' : ''
  const value = type === 'TXT' ? quoted(expected) : type === 'MX' ? `${expected}.` : expected
  const line = entry(name, domain, type, value)
  return expected.includes('<')
    ? [`; ${purposeTexts[purpose] ?? purpose} Insert the value from your provider and remove the semicolon.`, `; ${line}`]
    : [`; ${purposeTexts[purpose] ?? purpose}${isThere}`, line]
}

const isWithin = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

function entry(name: string, domain: string, type: string, value: string): string {
  const owner = name === domain ? '@' : isWithin(name, domain) ? name.slice(0, -domain.length - 1) : `${name}.`
  return `${owner.padEnd(28)} IN ${type.padEnd(5)} ${value}`
}

/** Splits the text into strings of at most 255 octets, in parentheses if there are several. */
function quoted(text: string): string {
  const strings = (text.match(new RegExp(`[^]{1,${maxString}}`, 'g')) ?? ['']).map((part) => `"${part.replaceAll(/["\\]/g, '\\$&')}"`)
  return strings.length === 1 ? (strings[0] ?? '""') : `( ${strings.join(' ')} )`
}
