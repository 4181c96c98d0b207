/**
 * Where an endpoint may be: checked when it is set, and at every connection again by whoever connects. The query of an address, in which
 * many services have their token, is sealed where the address is kept, and masked where it is shown.
 */
import type { SecretBox } from '../../access/secret-box.ts'
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
  if (url.search === `?${mask}`) throw wrong(`contains ${mask} in place of its query; give the whole address`)
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

/** Stands for the query where an address is shown. */
const mask = '***'
/** See `SecretBox.seal`. */
const sealedQuery = /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/

/** An address without its query, and the query if it has one. */
function halvesOf(address: string): readonly [string, string | undefined] {
  const at = address.indexOf('?')
  const query = at < 0 ? '' : address.slice(at + 1)
  return query === '' ? [address, undefined] : [address.slice(0, at), query]
}

const queryContext = (secretContext: string): string => `${secretContext}/query`

/**
 * The address as it is kept, with its query sealed. `secretContext` is that of the secret which signs what is posted there. An address
 * that is kept already stays as it is.
 */
export function keptUrl(secrets: SecretBox, url: string, secretContext: string, before?: string | null): string {
  if (before != null && isSealed(before) && openedUrl(secrets, before, secretContext) === url) return before
  const [address, query] = halvesOf(url)
  return query === undefined ? url : `${address}?${secrets.seal(query, queryContext(secretContext))}`
}

/** The address to post to; undefined if its query was sealed under another key. Earlier releases kept queries in clear. */
export function openedUrl(secrets: SecretBox, kept: string, secretContext: string): string | undefined {
  const [address, query] = halvesOf(kept)
  if (query === undefined || !sealedQuery.test(query)) return kept
  const opened = secrets.open(query, queryContext(secretContext))
  return opened === undefined ? undefined : `${address}?${opened}`
}

/** The address as it is shown. */
export function shownUrl(kept: string): string {
  const [address, query] = halvesOf(kept)
  return query === undefined ? kept : `${address}?${mask}`
}

/** Whether the query of a kept address needs no sealing. */
export function isSealed(kept: string): boolean {
  const [, query] = halvesOf(kept)
  return query === undefined || sealedQuery.test(query)
}

/** The name or the literal to connect to. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80))
