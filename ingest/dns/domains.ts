/** Domains as receivers compare them: lower case, A-labels, and the registrable part. */
import { domainToASCII } from 'node:url'
import { getDomain, parse } from 'tldts'

/** The domain of an address, in A-labels and lower case. Empty if the address has no valid domain. */
export const domainOf = (address: string): string => plainDomain(address.slice(address.lastIndexOf('@') + 1))

export function plainDomain(domain: string): string {
  const plain = domain.trim().toLowerCase().replace(/\.$/, '')
  return /[^\x20-\x7e]/.test(plain) ? domainToASCII(plain) : plain
}

/** The registrable domain by the public suffix list, or the name itself if it has no registrable domain. */
export const organizationOf = (domain: string): string => getDomain(domain, { allowPrivateDomains: true }) ?? domain

/** Reports whether a string that looks like a host name ends in an existing top-level domain. */
export function isRealHost(host: string): boolean {
  const { domain, isIcann, isIp } = parse(host)
  return isIp === false && isIcann === true && domain !== null
}

/** Names that private networks use, whether reserved (`internal`) or not. */
const ownNetworks = /\.(?:internal|corp|home|lan|intranet|private|localdomain)$/

/** Reports whether a string that looks like a host name is outside the public DNS: special use (RFC 6761) or a private network. */
export const isReservedHost = (host: string): boolean =>
  parse(host, { detectSpecialUse: true }).isSpecialUse === true || ownNetworks.test(host)

export const sameOrganization = (one: string, other: string): boolean => organizationOf(one) === organizationOf(other)
