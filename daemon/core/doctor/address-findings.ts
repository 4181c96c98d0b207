/** What others know of our own addresses: reverse names and blocklists. Pure. */
import { finding, type Finding } from './finding.ts'

/** What one blocklist says of one address (RFC 5782 §2.1). */
export interface ListAnswer {
  readonly address: string
  readonly zone: string
  /** The addresses of the answer; empty when it is not listed. */
  readonly codes: readonly string[]
}

/** Codes by which a list says that it does not answer to this name server: nothing is known then. */
const isRefusal = (code: string): boolean => code.startsWith('127.255.255.')
/** Only these say that something is listed; others come from name servers that answer for every name. */
const isListing = (code: string): boolean => code.startsWith('127.') && !isRefusal(code)

/** What some lists mean by a code, and where an entry is looked up and removed. */
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
      'Use a name server of your own (POSTERN_DNS_SERVERS): lists refuse public ones. Or take the list out of POSTERN_DOCTOR_BLOCKLISTS.',
    ),
  )
  return [...listed, ...refused]
}

/** The reverse names of one address, each with the addresses that it leads back to. */
export interface ReverseAnswer {
  readonly address: string
  readonly names: readonly { readonly name: string; readonly addresses: readonly string[] }[]
}

/** Large receivers refuse mail of addresses without a name that leads back (RFC 1912 §2.1). */
export function reverseFindings(answers: readonly ReverseAnswer[], host: string): Finding[] {
  return answers.flatMap(({ address, names }) => {
    const [first] = names
    const fix = `Let the owner of ${address} (your hoster) set its reverse name to ${host}, and let ${host} lead to ${address}.`
    if (!first) return [finding('address.no_reverse_name', address, `${address} has no reverse name (PTR record).`, fix)]
    if (names.some(({ addresses }) => addresses.includes(address))) return []
    return [
      finding('address.reverse_mismatch', address, `The reverse name of ${address}, ${first.name}, does not lead back to ${address}.`, fix),
    ]
  })
}
