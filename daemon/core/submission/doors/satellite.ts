/**
 * Checks whether an SMTP client is the host that it names in EHLO. A satellite's bounces are from the postmaster of that name (RFC 5321
 * §4.5.5). Without the check, a tenant could write as the postmaster of any domain.
 */
import { clientAddress } from '../../access/client-network.ts'
import { parseAddress } from '../../addresses.ts'
import { isLoopbackAddress } from '../../outbound/address-guard.ts'
import { ResolveError, type Resolver } from '../../outbound/resolver.ts'
import { Refusal } from '../../refusals.ts'

/** A client of SMTP submission. */
export interface Satellite {
  /** Argument of EHLO. */
  readonly helo: string
  readonly remoteAddress: string
}

interface Surroundings {
  readonly resolver: Resolver
  /** Host name of this service, shared by other programs on this machine. */
  readonly hostname: string
  /** Domains that the credential may send for, including all hosts below them. */
  readonly allowedDomains: readonly string[]
}

/**
 * Names that cannot be owned in the public DNS (RFC 2606 §2, RFC 6761, RFC 6762, RFC 8375), so readers do not mistake them for a sender.
 */
const privateNames = /^[^.]+$|\.(?:local|localdomain|localhost|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid)$/

/** Returns true if the host name cannot be owned in the public DNS. */
export const isPrivateName = (name: string): boolean => privateNames.test(name)

/** Returns true for the MAILER-DAEMON or postmaster of the EHLO name, which mail servers use in bounces. */
export function isPostmasterOf(address: string, helo: string): boolean {
  const mailbox = parseAddress(address)
  return mailbox !== undefined && /^(?:mailer-daemon|postmaster)$/i.test(mailbox.local) && mailbox.domain === helo.toLowerCase()
}

/**
 * Returns true if the name is below a domain of the credential, cannot exist in public DNS, is this machine's name on a loopback
 * connection, or resolves to the client's address. Throws `feature_unavailable` if the DNS lookup fails.
 */
export async function ownsItsName(
  { helo, remoteAddress }: Satellite,
  { resolver, hostname, allowedDomains }: Surroundings,
): Promise<boolean> {
  const name = helo.toLowerCase()
  if (isPrivateName(name) || allowedDomains.some((domain) => name.endsWith(`.${domain}`))) return true
  const address = clientAddress(remoteAddress)
  // foreign names may resolve to 127.0.0.1, which proves nothing
  if (address === '' || isLoopbackAddress(address)) return address !== '' && name === hostname.toLowerCase()
  const addresses = await addressesOf(name, address.includes(':') ? 6 : 4, resolver)
  return addresses.some((known) => clientAddress(known) === address)
}

async function addressesOf(name: string, family: 4 | 6, resolver: Resolver): Promise<readonly string[]> {
  try {
    return await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
  } catch (error) {
    if (!(error instanceof ResolveError)) throw error
    if (error.problem === 'not_found') return []
    const message = `The DNS lookup of ${name}, given in EHLO, failed, so its bounce cannot be accepted yet; try again later.`
    throw new Refusal('feature_unavailable', message, { nextAction: 'retry_later', cause: error })
  }
}
