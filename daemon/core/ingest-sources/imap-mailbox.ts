/** Checks the mailbox of a new polled source. */
import { isIP } from 'node:net'
import { parseDomain } from '../addresses.ts'
import { isPublicAddress, notPermitted } from '../outbound/address-guard.ts'
import { addressesIfAny } from '../outbound/resolver.ts'
import { invalid, type FieldProblem } from '../refusals.ts'
import type { EndpointGuards } from '../routing/destinations/endpoint.ts'
import { polledProviders, type ImapConfig, type IngestProvider } from './ingest-source.ts'

/** Mailbox settings in a request. */
export interface ImapRequest {
  readonly host: string
  readonly port?: number | undefined
  readonly username: string
  readonly password: string
  readonly mailbox?: string | undefined
  readonly pollIntervalSeconds?: number | undefined
}

const defaultPort = 993
/** TLS from the first octet, and STARTTLS. */
const imapPorts: readonly number[] = [993, 143]
export const defaultPollSeconds = 60
export const intervalMin = 30

/** Throws `validation_failed` with the invalid fields. The DNS look-up can take seconds. */
export async function checkImap(
  provider: IngestProvider,
  request: ImapRequest,
  { guard, resolver }: EndpointGuards,
): Promise<Omit<ImapConfig, 'sealedPassword'>> {
  const { port = defaultPort, username, mailbox = 'INBOX', pollIntervalSeconds = defaultPollSeconds } = request
  const problems: FieldProblem[] = []
  if (!polledProviders.includes(provider))
    problems.push({ path: 'imap_config', message: `is supported for the providers ${polledProviders.join(' and ')} only` })
  const host = isIP(request.host) === 0 ? parseDomain(request.host) : request.host.toLowerCase()
  if (host === undefined || host.includes('%'))
    throw invalid([...problems, { path: 'imap_config.host', message: 'must be a host name or an IP address' }])
  const addresses = await addressesIfAny(resolver, host)
  const permitted = addresses.filter((address) => guard(address, port))
  if (addresses.length > 0 && permitted.length === 0) {
    const message = notPermitted('destinations', host, port)
    problems.push({ path: 'imap_config.host', message })
  }
  // the guard permits every public address, so its result shows an operator's permission only for other addresses
  const isOperatorsOwn = permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))
  if (!imapPorts.includes(port) && !isOperatorsOwn)
    problems.push({ path: 'imap_config.port', message: 'must be 993 (TLS) or 143 (STARTTLS)' })
  if (problems.length > 0) throw invalid(problems)
  return { host, port, username, mailbox, pollIntervalSeconds }
}
