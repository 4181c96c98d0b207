/** Findings about the service's own addresses: reverse names and blocklists. Pure. */
import { observed, type Observed } from '../findings/finding.ts'

/** Result of one blocklist look-up for one address (RFC 5782 §2.1). */
export interface ListAnswer {
  readonly address: string
  readonly zone: string
  /** Addresses in the answer; empty if the address is not listed. */
  readonly codes: readonly string[]
}

/** Code of a list that refuses queries of this name server; the listing is then unknown. */
const isRefusal = (code: string): boolean => code.startsWith('127.255.255.')
/** Only these codes mean a listing; other codes come from name servers that answer for every name. */
const isListing = (code: string): boolean => code.startsWith('127.') && !isRefusal(code)

/** Lists of Spamhaus by code. */
const spamhaus: Readonly<Record<string, string>> = {
  '127.0.0.2': 'sbl',
  '127.0.0.3': 'css',
  '127.0.0.4': 'xbl',
  '127.0.0.9': 'drop',
  '127.0.0.10': 'pbl_isp',
  '127.0.0.11': 'pbl',
}

/** Pages to check and remove entries. */
const lookUpPages: Readonly<Record<string, string>> = {
  'zen.spamhaus.org': 'https://check.spamhaus.org/',
  'bl.spamcop.net': 'https://www.spamcop.net/bl.shtml',
  'psbl.surriel.com': 'https://psbl.org/',
  'b.barracudacentral.org': 'https://www.barracudacentral.org/lookups',
  'bl.mailspike.net': 'https://mailspike.org/iplookup.html',
}

export function blocklistFindings(answers: readonly ListAnswer[]): Observed[] {
  const listed = answers.flatMap(({ address, zone, codes }) => {
    const given = codes.filter(isListing)
    if (given.length === 0) return []
    const list = zone.endsWith('spamhaus.org') ? given.map((code) => spamhaus[code]).find((name) => name !== undefined) : undefined
    const page = lookUpPages[zone] ?? 'none'
    return observed('address.listed', `${address} ${zone}`, { address, zone, codes: given.join(', '), list: list ?? 'none', page })
  })
  const refusing = new Set(answers.filter(({ codes }) => codes.some(isRefusal)).map(({ zone }) => zone))
  return [...listed, ...[...refusing].map((zone) => observed('blocklist.refused', zone, { zone }))]
}

/** Reverse names of one address, with the addresses that each name resolves to. */
export interface ReverseAnswer {
  readonly address: string
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** Large receivers refuse mail from an address unless one of its reverse names resolves to the address (RFC 1912 §2.1). */
export function reverseFindings(answers: readonly ReverseAnswer[], host: string): Observed[] {
  return answers.flatMap(({ address, names }) => {
    const [first] = names
    if (!first) return [observed('address.no_reverse_name', address, { address, host })]
    if (names.some(({ addresses }) => addresses.includes(address))) return []
    return [observed('address.reverse_mismatch', address, { address, host, name: first.name })]
  })
}
