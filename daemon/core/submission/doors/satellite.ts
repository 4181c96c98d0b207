/**
 * Whether a client of submission is the host that it names in EHLO. A satellite's bounces are from the postmaster of that name
 * (RFC 5321 §4.5.5), and a name that anybody may claim would let a tenant write as the postmaster of a bank.
 */
import { clientAddress } from '../../access/client-network.ts'
import { parseAddress } from '../../addresses.ts'
import { isLoopbackAddress } from '../../outbound/address-guard.ts'
import { ResolveError, type Resolver } from '../../outbound/resolver.ts'
import { Refusal } from '../../refusals.ts'

/** A client as it is known when it submits. */
export interface Satellite {
  /** The argument of EHLO, in small letters. */
  readonly helo: string
  readonly remoteAddress: string
}

interface Surroundings {
  readonly resolver: Resolver
  /** Our own name, which other programs of this machine share. */
  readonly hostname: string
  /** Domains that the credential may send for; names below them are its own. */
  readonly allowedDomains: readonly string[]
}

/** Names that cannot be owned in the public DNS (RFC 2606 §2, RFC 6761, RFC 6762, RFC 8375): a reader takes none of them for a sender. */
const privateNames = /^[^.]+$|\.(?:local|localdomain|localhost|internal|intranet|private|corp|home|lan|home\.arpa|test|invalid)$/

/** Whether a name of a host cannot be owned in the public DNS. */
export const isPrivateName = (name: string): boolean => privateNames.test(name)

/** Whether an address is what a mail server calls itself in its bounces. */
export function isPostmasterOf(address: string, helo: string): boolean {
  const mailbox = parseAddress(address)
  return mailbox !== undefined && /^(?:mailer-daemon|postmaster)$/i.test(mailbox.local) && mailbox.domain === helo.toLowerCase()
}

/**
 * A name is the client's when it lies below a domain of its credential, when it cannot exist in the public DNS, when both run
 * on this machine, or when DNS has the client's address for it. Throws `feature_unavailable` when DNS gives no answer.
 */
export async function ownsItsName(
  { helo, remoteAddress }: Satellite,
  { resolver, hostname, allowedDomains }: Surroundings,
): Promise<boolean> {
  const name = helo.toLowerCase()
  if (isPrivateName(name) || allowedDomains.some((domain) => name.endsWith(`.${domain}`))) return true
  const address = clientAddress(remoteAddress)
  // names of others can lead to 127.0.0.1, and then prove nothing
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
