/** Domains as receivers compare them: lower case, A-labels, and the part that somebody registered. */
import { domainToASCII } from 'node:url'
import { getDomain, parse } from 'tldts'

/** The domain of an address, in A-labels and lower case; empty when there is none. */
export const domainOf = (address: string): string => plainDomain(address.slice(address.lastIndexOf('@') + 1))

export function plainDomain(domain: string): string {
  const plain = domain.trim().toLowerCase().replace(/\.$/, '')
  return /[^\x20-\x7e]/.test(plain) ? domainToASCII(plain) : plain
}

/** The registrable domain by the public suffix list; the name itself where there is none. */
export const organizationOf = (domain: string): string => getDomain(domain, { allowPrivateDomains: true }) ?? domain

/** Whether a text that looks like a host name ends in a top-level domain that exists. */
export function isRealHost(host: string): boolean {
  const { domain, isIcann, isIp } = parse(host)
  return isIp === false && isIcann === true && domain !== null
}

/** Networks of one's own are named so, registered for that (`internal`) or not. */
const ownNetworks = /\.(?:internal|corp|home|lan|intranet|private|localdomain)$/

/** Whether a text that looks like a host name is one outside the public DNS: special use (RFC 6761) or a network of one's own. */
export const isReservedHost = (host: string): boolean =>
  parse(host, { detectSpecialUse: true }).isSpecialUse === true || ownNetworks.test(host)

export const sameOrganization = (one: string, other: string): boolean => organizationOf(one) === organizationOf(other)
