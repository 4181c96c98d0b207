/** Findings about the service's own addresses: reverse names and blocklists. Pure. */
import { finding, type Finding } from './finding.ts'

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

/** Meaning of the codes of some lists, and pages to check and remove entries. */
const spamhaus: Readonly<Record<string, string>> = {
  '127.0.0.2': 'SBL: a source of spam',
  '127.0.0.3': 'CSS: a source of spam, found by machines',
  '127.0.0.4': 'XBL: an infected machine or open proxy',
  '127.0.0.9': 'DROP: a network of criminals',
  '127.0.0.10': 'PBL: its provider says that no mail comes from there',
  '127.0.0.11': 'PBL: no mail is expected from there',
}

const lookUpPages: Readonly<Record<string, string>> = {
  'zen.spamhaus.org': 'https://check.spamhaus.org/',
  'bl.spamcop.net': 'https://www.spamcop.net/bl.shtml',
  'psbl.surriel.com': 'https://psbl.org/',
  'b.barracudacentral.org': 'https://www.barracudacentral.org/lookups',
  'bl.mailspike.net': 'https://mailspike.org/iplookup.html',
}

export function blocklistFindings(answers: readonly ListAnswer[]): Finding[] {
  const listed = answers.flatMap(({ address, zone, codes }) => {
    const given = codes.filter(isListing)
    if (given.length === 0) return []
    const meaning = zone.endsWith('spamhaus.org') ? given.map((code) => spamhaus[code]).find((text) => text !== undefined) : undefined
    const page = lookUpPages[zone]
    return finding(
      'address.listed',
      `${address} ${zone}`,
      `${address} is on the blocklist ${zone} (${given.join(', ')}${meaning === undefined ? '' : `, ${meaning}`}).`,
      `Find out what sent unwanted mail and stop it, then ask for removal${page === undefined ? ` at the operator of ${zone}` : `: ${page}`}.`,
    )
  })
  const refusing = new Set(answers.filter(({ codes }) => codes.some(isRefusal)).map(({ zone }) => zone))
  const refused = [...refusing].map((zone) =>
    finding(
      'blocklist.refused',
      zone,
      `${zone} refuses queries of the name server in use, so it is not known whether your addresses are listed.`,
      'Use your own name server (POSTERN_DNS_SERVERS), because lists refuse public servers. Or remove the list from POSTERN_DOCTOR_BLOCKLISTS.',
    ),
  )
  return [...listed, ...refused]
}

/** Reverse names of one address, with the addresses that each name resolves to. */
export interface ReverseAnswer {
  readonly address: string
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** Large receivers refuse mail from an address unless one of its reverse names resolves to the address (RFC 1912 §2.1). */
export function reverseFindings(answers: readonly ReverseAnswer[], host: string): Finding[] {
  return answers.flatMap(({ address, names }) => {
    const [first] = names
    const fix = `Ask the owner of ${address} (your hosting provider) to set its reverse name to ${host}, and point ${host} to ${address}.`
    if (!first) return [finding('address.no_reverse_name', address, `${address} has no reverse name (PTR record).`, fix)]
    if (names.some(({ addresses }) => addresses.includes(address))) return []
    return [
      finding('address.reverse_mismatch', address, `The reverse name of ${address}, ${first.name}, does not resolve to ${address}.`, fix),
    ]
  })
}
