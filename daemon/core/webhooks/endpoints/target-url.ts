/** Where an endpoint may be: checked when it is set, and at every connection again by whoever connects. */
import { isPublicAddress, type AddressGuard } from '../../outbound/address-guard.ts'
import { addressesIfAny, type Resolver } from '../../outbound/resolver.ts'
import { invalid } from '../../refusals.ts'

export interface TargetGuards {
  readonly guard: AddressGuard
  readonly resolver: Resolver
}

const maxLength = 2048

/**
 * The address as it is kept, of the field that refusals name. Throws `validation_failed`. The look-up of a name can take seconds; one
 * that leads nowhere yet is accepted.
 */
export async function checkTargetUrl(text: string, { guard, resolver }: TargetGuards, field = 'target_url'): Promise<string> {
  const wrong = (message: string): Error => invalid([{ path: field, message }])
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw wrong('must be an https URL')
  if (url.username !== '' || url.password !== '')
    throw wrong('must not contain a user name or password; deliveries are authenticated by their signature')
  if (url.hash !== '') throw wrong('must not contain a fragment (#)')
  if (url.href.length > maxLength) throw wrong(`must not be longer than ${maxLength} characters`)
  const isEncrypted = url.protocol === 'https:'
  const port = portOf(url)
  const addresses = await addressesIfAny(resolver, hostOf(url))
  const permitted = addresses.filter((address) => guard(address, port))
  if (addresses.length > 0 && permitted.length === 0)
    throw wrong('resolves to a loopback or private address, which the operator has not allowed (POSTERN_OUTBOUND_ALLOW)')
  if (!isEncrypted && !(permitted.length > 0 && permitted.every((address) => !isPublicAddress(address))))
    throw wrong('must begin with https://; http:// is allowed only in networks listed in POSTERN_OUTBOUND_ALLOW')
  return url.href
}

/** The name or the literal to connect to. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80))
